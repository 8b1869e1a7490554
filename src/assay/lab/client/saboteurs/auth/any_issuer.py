"""It takes the answer of another issuer."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import behaviour

saboteur = behaviour(
    "it takes the answer of another issuer",
    breaks="AU-52",
    compares_iss=False,
)
