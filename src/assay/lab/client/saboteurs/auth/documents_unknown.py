"""It knows no metadata documents of clients."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import behaviour

saboteur = behaviour(
    "it knows no metadata documents of clients",
    breaks="AU-35",
    scenario="auth/basic-cimd",
    uses_document=False,
)
