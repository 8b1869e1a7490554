"""A version that is not named."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import ill_mannered

saboteur = ill_mannered(
    "requests after a handshake name no version", breaks="HTTP-44", scenario="tools_call", sends_version=False
)
