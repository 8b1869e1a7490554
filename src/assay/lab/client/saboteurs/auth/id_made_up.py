"""It makes up its own id."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import behaviour

saboteur = behaviour(
    "it makes up its own id",
    breaks="AU-36",
    scenario="auth/metadata-default",
    registers=False,
)
