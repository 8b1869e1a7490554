"""It does not ask for the scope of the challenge."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import behaviour

saboteur = behaviour(
    "it does not ask for the scope of the challenge",
    breaks="scope-from-www-authenticate",
    scenario="auth/scope-from-www-authenticate",
    honours_scope=False,
)
