"""It takes an answer with another state."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import behaviour

saboteur = behaviour(
    "it takes an answer with another state",
    breaks="AU-88",
    scenario="auth.other-state",
    checks_state=False,
)
