"""Whoever shows something bad is forbidden to come in, not asked for better."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Response, on_response
from assay.lab.marketplace.sec_server import SERVER


@on_response("a bad token gets 403", breaks="CONF-SEC-04.malformed", server=SERVER)
def change(response: Response, context: FaultContext) -> None:
    if (
        response.status == 401
        and context.call is not None
        and context.call.header("authorization") is not None
    ):
        response.status = 403
