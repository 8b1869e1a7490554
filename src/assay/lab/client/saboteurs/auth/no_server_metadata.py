"""It never asks for the metadata of the authorization server."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import behaviour

saboteur = behaviour(
    "it never asks for the metadata of the authorization server",
    breaks="authorization-server-metadata",
    scenario="auth/metadata-default",
    reads_server_metadata=False,
)
