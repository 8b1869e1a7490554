"""A challenge over scopes does not say that it is about scopes."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Response, on_response
from assay.lab.marketplace.sec_server import SERVER
from assay.lab.suite.sabotaging import drop_from_challenge


@on_response("the challenge has no insufficient_scope", breaks="CONF-SEC-04.scope", server=SERVER)
def change(response: Response, context: FaultContext) -> None:
    if response.status == 403:
        drop_from_challenge(response, "error")
