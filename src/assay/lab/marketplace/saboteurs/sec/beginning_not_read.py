"""A token is good before its time."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Request, on_call
from assay.lab.marketplace.sec_server import SERVER
from assay.lab.suite.sabotaging import as_first, claims, remember_first


@on_call("a token that is to be good later is taken", breaks="CONF-SEC-04.not-yet", server=SERVER)
def change(request: Request, context: FaultContext) -> None:
    remember_first(request, context)
    if "nbf" in claims(request):
        as_first(request, context)
