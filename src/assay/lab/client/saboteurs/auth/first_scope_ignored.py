"""It asks for the scopes of the metadata instead of the first challenge's."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import behaviour

saboteur = behaviour(
    "it asks for the scopes of the metadata instead of the first challenge's",
    breaks="scope-step-up-initial",
    scenario="auth/scope-step-up",
    honours_scope=False,
)
