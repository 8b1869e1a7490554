"""A session that is not known is a bad request, like any other."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Response, on_response


@on_response("a request of an ended session gets 400", breaks="HTTP-41")
def change(response: Response, context: FaultContext) -> None:
    named = context.call is not None and context.call.header("mcp-session-id") is not None
    if named and response.status == 404:
        response.status = 400
