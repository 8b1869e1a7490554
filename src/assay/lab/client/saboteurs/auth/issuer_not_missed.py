"""It does not miss the issuer that the metadata announces."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import behaviour

saboteur = behaviour(
    "it does not miss the issuer that the metadata announces",
    breaks="sep-2468-client-reject-missing-iss",
    scenario="auth/iss-supported-missing",
    needs_iss=False,
)
