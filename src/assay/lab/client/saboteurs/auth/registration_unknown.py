"""It cannot register."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import behaviour

saboteur = behaviour(
    "it cannot register",
    breaks="AU-34",
    scenario="auth/token-endpoint-auth-none",
    registers=False,
)
