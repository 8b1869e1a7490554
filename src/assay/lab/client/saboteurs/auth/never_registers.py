"""It makes up its id instead of registering."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import behaviour

saboteur = behaviour(
    "it makes up its id instead of registering",
    breaks="client-registration",
    scenario="auth/metadata-default",
    registers=False,
)
