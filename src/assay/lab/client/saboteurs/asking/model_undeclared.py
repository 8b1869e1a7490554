"""A model answers that was not declared."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import EVERY, behaviour

saboteur = behaviour(
    "a model answers that was not declared",
    breaks="SMP-01",
    scenario="asking.sampling",
    declares={},
    transports=EVERY,
)
