"""Addresses are compared letter by letter."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import LOCKED, FaultContext, Request, Response, on_call
from assay.lab.suite.sabotaging import claims


@on_call("an audience in capitals is taken for another", breaks="AU-60", server=LOCKED)
def change(request: Request, context: FaultContext) -> Response | None:
    if str(claims(request).get("aud", "")).startswith("HTTP:"):
        return Response([], 401)
    return None
