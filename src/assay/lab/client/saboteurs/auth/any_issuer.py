"""It takes the answer of another issuer."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import ill_mannered

saboteur = ill_mannered(
    "it takes the answer of another issuer",
    breaks="AU-52",
    compares_iss=False,
)
