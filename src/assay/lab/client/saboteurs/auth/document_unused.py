"""It registers though the server takes documents."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import ill_mannered

saboteur = ill_mannered(
    "it registers though the server takes documents",
    breaks="cimd-client-id-used",
    scenario="auth/basic-cimd",
    uses_document=False,
)
