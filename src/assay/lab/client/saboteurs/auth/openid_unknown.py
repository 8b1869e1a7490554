"""It knows no document of OpenID Connect."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import ill_mannered

saboteur = ill_mannered(
    "it knows no document of OpenID Connect",
    breaks="AU-23",
    scenario="auth/metadata-var1",
    knows_openid=False,
)
