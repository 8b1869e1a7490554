"""A token may say itself that it needs no signature."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Request, on_call
from assay.lab.marketplace.sec_server import SERVER
from assay.lab.suite.sabotaging import as_first, header, remember_first


@on_call("a token under alg none is taken", breaks="CONF-SEC-04.unsigned", server=SERVER)
def change(request: Request, context: FaultContext) -> None:
    remember_first(request, context)
    if header(request).get("alg") == "none":
        as_first(request, context)
