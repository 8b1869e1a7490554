"""It takes the endpoint's origin for the authorization server."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import behaviour

saboteur = behaviour(
    "it takes the endpoint's origin for the authorization server",
    breaks="AU-11",
    scenario="auth/metadata-var1",
    reads_resource_metadata=False,
)
