"""Roots are told that were not declared."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import EVERY, behaviour

saboteur = behaviour(
    "roots are told that were not declared",
    breaks="RT-01",
    scenario="asking.roots",
    declares={},
    transports=EVERY,
)
