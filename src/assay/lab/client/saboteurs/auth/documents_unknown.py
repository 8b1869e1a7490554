"""It knows no metadata documents of clients."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import ill_mannered

saboteur = ill_mannered(
    "it knows no metadata documents of clients",
    breaks="AU-35",
    scenario="auth/basic-cimd",
    uses_document=False,
)
