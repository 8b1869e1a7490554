"""It drops the path of the issuer."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import behaviour

saboteur = behaviour(
    "it drops the path of the issuer",
    breaks="authorization-server-metadata-wrong-path",
    scenario="auth/metadata-var2",
    drops_issuer_path=True,
)
