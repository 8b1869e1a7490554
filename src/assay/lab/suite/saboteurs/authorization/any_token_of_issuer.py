"""Every token of the issuer opens this server, whatever it was given out for."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import LOCKED, FaultContext, Request, on_call
from assay.lab.harness.transport import GUARDED
from assay.lab.suite.sabotaging import as_first, claims, first_claims, remember_first


@on_call(
    "tokens that its issuer gave out for others are taken", breaks="AU-66", server=LOCKED, transports=GUARDED
)
def change(request: Request, context: FaultContext) -> None:
    remember_first(request, context)
    if claims(request).get("aud") != first_claims(context).get("aud"):
        as_first(request, context)
