"""It does not mind that a server knows no PKCE."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import behaviour

saboteur = behaviour(
    "it does not mind that a server knows no PKCE",
    breaks="AU-83",
    scenario="auth.without-pkce",
    needs_pkce=False,
)
