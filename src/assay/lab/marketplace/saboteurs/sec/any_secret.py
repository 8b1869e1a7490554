"""Whoever signs by HMAC is believed."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Request, on_call
from assay.lab.marketplace.sec_server import SERVER
from assay.lab.suite.sabotaging import as_first, header, remember_first


@on_call("a token signed by HMAC with any secret is taken", breaks="CONF-SEC-04.forged", server=SERVER)
def change(request: Request, context: FaultContext) -> None:
    remember_first(request, context)
    if header(request).get("alg") == "HS256":
        as_first(request, context)
