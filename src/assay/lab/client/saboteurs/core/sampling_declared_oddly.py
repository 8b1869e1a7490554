"""A capability that is no object."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import EVERY, behaviour

saboteur = behaviour(
    "sampling is declared with a list",
    breaks="sep-2575-client-declares-sampling-capability",
    transports=EVERY,
    declares={"sampling": []},
)
