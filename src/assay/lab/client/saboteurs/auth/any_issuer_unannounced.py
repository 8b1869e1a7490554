"""It does not compare an issuer that the metadata does not announce."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import behaviour

saboteur = behaviour(
    "it does not compare an issuer that the metadata does not announce",
    breaks="sep-2468-client-compare-iss-unadvertised",
    scenario="auth/iss-unexpected",
    compares_iss=False,
)
