"""It asks for authorization as long as it is refused."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import behaviour

saboteur = behaviour(
    "it asks for authorization as long as it is refused",
    breaks="scope-retry-limit",
    scenario="auth/scope-retry-limit",
    tracks_scopes=False,
    most_authorizations=9,
)
