"""Tokens are verified, but not whose they are."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Request, on_call
from assay.lab.marketplace.sec_server import SERVER
from assay.lab.suite.sabotaging import as_first, claims, first_claims, remember_first


@on_call("a token of another issuer is taken", breaks="CONF-SEC-04.issuer", server=SERVER)
def change(request: Request, context: FaultContext) -> None:
    remember_first(request, context)
    if claims(request).get("iss") != first_claims(context).get("iss"):
        as_first(request, context)
