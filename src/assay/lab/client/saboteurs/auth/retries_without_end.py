"""It does not count how often it was refused."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import behaviour

saboteur = behaviour(
    "it does not count how often it was refused",
    breaks="AU-75",
    scenario="auth/scope-retry-limit",
    tracks_scopes=False,
    most_authorizations=9,
)
