"""Errors are errors of the server, by their HTTP status."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Response, on_response


@on_response("an unknown method gets HTTP 500", breaks="CONF-JRPC-03.unknown-method")
def change(response: Response, context: FaultContext) -> None:
    if "no-such" in context.method or "no/such" in context.method:
        response.status = 500
