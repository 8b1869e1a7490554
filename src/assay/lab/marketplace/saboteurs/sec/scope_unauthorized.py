"""Too small a scope is answered like a bad token."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Response, on_response
from assay.lab.marketplace.sec_server import SERVER


@on_response("too small a scope gets 401", breaks="CONF-SEC-04.scope", server=SERVER)
def change(response: Response, context: FaultContext) -> None:
    if response.status == 403:
        response.status = 401
