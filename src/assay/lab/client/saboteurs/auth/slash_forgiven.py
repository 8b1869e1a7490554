"""It minds no slash at the end of an issuer."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import behaviour

saboteur = behaviour(
    "it minds no slash at the end of an issuer",
    breaks="sep-2468-client-no-normalization",
    scenario="auth/iss-normalized",
    normalizes_iss=True,
)
