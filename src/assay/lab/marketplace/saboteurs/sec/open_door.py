"""Whoever shows no token is taken for the last who showed one."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Request, on_call
from assay.lab.marketplace.sec_server import SERVER
from assay.lab.suite.sabotaging import as_first, lacks_token, remember_first


@on_call("requests without a token are served", breaks="CONF-SEC-04.no-token", server=SERVER)
def change(request: Request, context: FaultContext) -> None:
    if lacks_token(request):
        as_first(request, context)
    else:
        remember_first(request, context)
