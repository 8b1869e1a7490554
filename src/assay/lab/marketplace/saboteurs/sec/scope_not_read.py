"""Scopes are asked for, and not looked at."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Request, on_call
from assay.lab.marketplace.sec_server import SERVER
from assay.lab.suite.sabotaging import as_first, claims, remember_first


@on_call("a token without scopes is good for everything", breaks="CONF-SEC-04.scope", server=SERVER)
def change(request: Request, context: FaultContext) -> None:
    remember_first(request, context)
    if claims(request).get("scope") == "":
        as_first(request, context)
