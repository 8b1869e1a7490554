"""It drops the scope that it had when it asks for another."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import behaviour

saboteur = behaviour(
    "it drops the scope that it had when it asks for another",
    breaks="sep-2350-scope-union-on-reauth",
    scenario="auth/scope-step-up",
    keeps_scopes=False,
)
