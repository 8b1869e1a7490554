"""It makes issuers alike before it compares them."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import behaviour

saboteur = behaviour(
    "it makes issuers alike before it compares them",
    breaks="AU-54",
    normalizes_iss=True,
)
