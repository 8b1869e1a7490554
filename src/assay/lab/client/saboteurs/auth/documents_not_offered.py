"""its id is a document though the server takes none."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import behaviour

saboteur = behaviour(
    "its id is a document though the server takes none",
    breaks="AU-41",
    scenario="auth/metadata-default",
    checks_documents=False,
)
