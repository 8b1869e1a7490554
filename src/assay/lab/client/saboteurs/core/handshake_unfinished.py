"""A handshake that never ends."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import EVERY, behaviour

saboteur = behaviour(
    "that the handshake is done is never said",
    breaks="mcp-client-initialization",
    transports=EVERY,
    announces=False,
)
