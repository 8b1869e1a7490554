"""It never asks for the metadata of the resource."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import ill_mannered

saboteur = ill_mannered(
    "it never asks for the metadata of the resource",
    breaks="prm-pathbased-requested",
    scenario="auth/metadata-default",
    reads_resource_metadata=False,
)
