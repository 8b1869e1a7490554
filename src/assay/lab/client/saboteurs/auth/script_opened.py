"""It opens an authorization address that is a script."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import behaviour

saboteur = behaviour(
    "it opens an authorization address that is a script",
    breaks="SEC-08",
    scenario="auth.authorization-url-script",
    checks_addresses=False,
    opens_as_http=True,
)
