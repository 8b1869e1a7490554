"""A new scope takes the place of the old one."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import behaviour

saboteur = behaviour(
    "a new scope takes the place of the old one",
    breaks="AU-19",
    scenario="auth/scope-step-up",
    keeps_scopes=False,
)
