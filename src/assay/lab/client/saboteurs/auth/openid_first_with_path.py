"""It asks for OpenID Connect's document of an issuer with a path first."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import behaviour

saboteur = behaviour(
    "it asks for OpenID Connect's document of an issuer with a path first",
    breaks="AU-24",
    scenario="auth/metadata-var2",
    openid_first=True,
)
