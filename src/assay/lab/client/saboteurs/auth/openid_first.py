"""It asks for OpenID Connect's document first."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import behaviour

saboteur = behaviour(
    "it asks for OpenID Connect's document first",
    breaks="AU-25",
    scenario="auth/metadata-default",
    openid_first=True,
)
