"""A model uses tools, and was not said to."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import EVERY, behaviour

saboteur = behaviour(
    "a model is given tools, and was not said to take any",
    breaks="SMP-02",
    scenario="asking.sampling-tools",
    declares={"sampling": {}},
    transports=EVERY,
)
