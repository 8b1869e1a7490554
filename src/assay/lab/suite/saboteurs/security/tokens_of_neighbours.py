"""Servers of one issuer take the tokens of each other."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import LOCKED, FaultContext, Request, on_call
from assay.lab.suite.sabotaging import as_first, claims, first_claims, remember_first


@on_call("tokens that were not issued for this server are taken", breaks="SEC-05", server=LOCKED)
def change(request: Request, context: FaultContext) -> None:
    remember_first(request, context)
    if claims(request).get("aud") != first_claims(context).get("aud"):
        as_first(request, context)
