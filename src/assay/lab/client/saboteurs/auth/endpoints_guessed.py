"""It guesses where the endpoints are."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import behaviour

saboteur = behaviour(
    "it guesses where the endpoints are",
    breaks="AU-22",
    scenario="auth/scope-from-www-authenticate",
    reads_server_metadata=False,
)
