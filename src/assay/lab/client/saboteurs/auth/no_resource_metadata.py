"""It never asks for the metadata of the resource."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import behaviour

saboteur = behaviour(
    "it never asks for the metadata of the resource",
    breaks="prm-pathbased-requested",
    scenario="auth/metadata-default",
    reads_resource_metadata=False,
)
