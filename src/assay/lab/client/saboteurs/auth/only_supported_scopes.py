"""It asks for no scope that the metadata does not name."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import behaviour

saboteur = behaviour(
    "it asks for no scope that the metadata does not name",
    breaks="AU-16",
    scenario="auth/scope-step-up",
    trusts_supported=True,
)
