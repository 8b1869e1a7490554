"""Claims are read, and signatures are not."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import LOCKED, FaultContext, Request, on_call
from assay.lab.harness.transport import GUARDED
from assay.lab.suite.sabotaging import as_first, claims, first_claims, is_expired, remember_first


@on_call("the signature of a token is not verified", breaks="AU-63", server=LOCKED, transports=GUARDED)
def change(request: Request, context: FaultContext) -> None:
    remember_first(request, context)
    if claims(request).get("iss") == first_claims(context).get("iss") and not is_expired(request):
        as_first(request, context)
