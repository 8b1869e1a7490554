"""It reads no further than the challenge."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import behaviour

saboteur = behaviour(
    "it reads no further than the challenge",
    breaks="authorization-request",
    scenario="auth/metadata-default",
    most_authorizations=0,
)
