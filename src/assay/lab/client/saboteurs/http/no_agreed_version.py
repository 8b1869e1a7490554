"""A version that is not named."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import behaviour

saboteur = behaviour(
    "requests after a handshake name no version", breaks="HTTP-44", scenario="tools_call", sends_version=False
)
