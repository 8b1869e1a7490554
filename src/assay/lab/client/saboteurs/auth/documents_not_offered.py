"""its id is a document though the server takes none."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import ill_mannered

saboteur = ill_mannered(
    "its id is a document though the server takes none",
    breaks="AU-41",
    scenario="auth/metadata-default",
    checks_documents=False,
)
