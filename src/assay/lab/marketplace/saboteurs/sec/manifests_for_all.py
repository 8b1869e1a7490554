"""What the server can do is public."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Request, on_call
from assay.lab.marketplace.sec_admission import MANIFESTS
from assay.lab.marketplace.sec_server import SERVER
from assay.lab.suite.sabotaging import as_first, remember_first


@on_call("the manifests are shown to everybody", breaks="CONF-SEC-04.manifests", server=SERVER)
def change(request: Request, context: FaultContext) -> None:
    remember_first(request, context)
    if request.target in MANIFESTS:
        as_first(request, context)
