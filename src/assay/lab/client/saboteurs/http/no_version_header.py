"""A version that is not in the head."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import behaviour

saboteur = behaviour(
    "POSTs have no version in their head", breaks="HTTP-48", scenario="tools_call", sends_version=False
)
