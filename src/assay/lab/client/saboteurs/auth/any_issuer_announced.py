"""It does not compare the issuer that the metadata announces."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import behaviour

saboteur = behaviour(
    "it does not compare the issuer that the metadata announces",
    breaks="sep-2468-client-compare-iss-supported",
    scenario="auth/iss-wrong-issuer",
    compares_iss=False,
)
