"""Tools that the model was not said to take are taken all the same."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import EVERY, behaviour

saboteur = behaviour(
    "tools for the model are taken that were not declared",
    breaks="SMP-04",
    scenario="asking.sampling-tools-undeclared",
    checks_declared=False,
    transports=EVERY,
)
