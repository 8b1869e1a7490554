"""It opens an authorization address without TLS."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import behaviour

saboteur = behaviour(
    "it opens an authorization address without TLS",
    breaks="SEC-08",
    scenario="auth.authorization-url-in-clear",
    checks_addresses=False,
)
