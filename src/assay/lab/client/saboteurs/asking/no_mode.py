"""Elicitation without any mode."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import EVERY, behaviour

saboteur = behaviour(
    "elicitation is declared with a mode that does not exist",
    breaks="EL-02",
    scenario="asking.form-accepted",
    declares={"elicitation": {"hologram": {}}},
    transports=EVERY,
)
