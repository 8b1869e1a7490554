"""It comes to another authorization server without registering there."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import behaviour

saboteur = behaviour(
    "it comes to another authorization server without registering there",
    breaks="AU-49",
    scenario="auth/authorization-server-migration",
    keys_by_issuer=False,
)
