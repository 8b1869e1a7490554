"""It does not compare the issuer in the metadata."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import behaviour

saboteur = behaviour(
    "it does not compare the issuer in the metadata",
    breaks="AU-26",
    compares_issuer=False,
)
