"""It registers with the first authorization server alone."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import behaviour

saboteur = behaviour(
    "it registers with the first authorization server alone",
    breaks="sep-2352-reregister-on-as-change",
    scenario="auth/authorization-server-migration",
    keys_by_issuer=False,
)
