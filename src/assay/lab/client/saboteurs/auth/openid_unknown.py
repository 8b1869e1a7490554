"""It knows no document of OpenID Connect."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import behaviour

saboteur = behaviour(
    "it knows no document of OpenID Connect",
    breaks="AU-23",
    scenario="auth/metadata-var1",
    knows_openid=False,
)
