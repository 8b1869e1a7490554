"""It uses metadata that names another issuer."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import behaviour

saboteur = behaviour(
    "it uses metadata that names another issuer",
    breaks="sep-2468-client-validate-metadata-issuer",
    scenario="auth/metadata-issuer-mismatch",
    compares_issuer=False,
)
