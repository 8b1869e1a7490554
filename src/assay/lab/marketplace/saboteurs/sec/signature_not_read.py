"""Claims are read, and signatures are not."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Request, on_call
from assay.lab.marketplace.sec_server import SERVER
from assay.lab.suite.sabotaging import as_first, claims, first_claims, header, remember_first


@on_call("the signature of a token is not verified", breaks="CONF-SEC-04.signature", server=SERVER)
def change(request: Request, context: FaultContext) -> None:
    remember_first(request, context)
    if header(request).get("alg") != "none" and claims(request) == first_claims(context):
        as_first(request, context)
