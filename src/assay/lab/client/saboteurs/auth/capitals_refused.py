"""It refuses a resource in capitals."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import behaviour

saboteur = behaviour(
    "it refuses a resource in capitals",
    breaks="AU-60",
    scenario="auth.resource-in-capitals",
    minds_capitals=True,
)
