"""It gives up where another scope is needed."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import behaviour

saboteur = behaviour(
    "it gives up where another scope is needed",
    breaks="AU-74",
    scenario="auth/scope-step-up",
    steps_up=False,
)
