"""It registers before it thinks of its document."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import behaviour

saboteur = behaviour(
    "it registers before it thinks of its document",
    breaks="AU-37",
    scenario="auth/basic-cimd",
    uses_document=False,
)
