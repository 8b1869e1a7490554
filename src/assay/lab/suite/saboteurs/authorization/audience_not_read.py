"""Tokens are verified, but not whom they are for."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import LOCKED, FaultContext, Request, on_call
from assay.lab.harness.transport import GUARDED
from assay.lab.suite.sabotaging import as_first, claims, first_claims, remember_first


@on_call("a token for another server is taken", breaks="AU-64", server=LOCKED, transports=GUARDED)
def change(request: Request, context: FaultContext) -> None:
    remember_first(request, context)
    if claims(request).get("aud") != first_claims(context).get("aud"):
        as_first(request, context)
