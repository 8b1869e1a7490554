"""It asks for the metadata of the resource at the root."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import behaviour

saboteur = behaviour(
    "it asks for the metadata of the resource at the root",
    breaks="prm-priority-order",
    scenario="auth/metadata-default",
    asks_root_first=True,
)
