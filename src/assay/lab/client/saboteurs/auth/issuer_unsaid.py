"""It takes an answer without the issuer that was announced."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import behaviour

saboteur = behaviour(
    "it takes an answer without the issuer that was announced",
    breaks="AU-53",
    needs_iss=False,
)
