"""A client that goes on, and leaves what it asked for hanging."""

from __future__ import annotations

from assay.lab.client.declaring import CLIENTS
from assay.lab.harness.sabotage.client_saboteur import behaviour
from assay.revisions.registry import HANDSHAKE

saboteur = behaviour(
    "a request that took too long is not cancelled",
    breaks="LIFE-16",
    transports=CLIENTS,
    window=lambda revision: revision in HANDSHAKE,
    cancels=False,
)
