"""It registers though the server takes documents."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import behaviour

saboteur = behaviour(
    "it registers though the server takes documents",
    breaks="cimd-client-id-used",
    scenario="auth/basic-cimd",
    uses_document=False,
)
