"""A capability that is no object."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import EVERY, behaviour

saboteur = behaviour(
    "roots is declared with true",
    breaks="sep-2575-client-declares-roots-capability",
    transports=EVERY,
    declares={"roots": True},
)
