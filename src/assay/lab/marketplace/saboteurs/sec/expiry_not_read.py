"""A token is good for ever."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Request, on_call
from assay.lab.marketplace.sec_server import SERVER
from assay.lab.suite.sabotaging import as_first, is_expired, remember_first


@on_call("an expired token is taken", breaks="CONF-SEC-04.expired", server=SERVER)
def change(request: Request, context: FaultContext) -> None:
    remember_first(request, context)
    if is_expired(request):
        as_first(request, context)
