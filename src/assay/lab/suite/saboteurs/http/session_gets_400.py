"""A session that is not known is a bad request, like any other."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import Response, Turn, on_response


@on_response("a request of an ended session gets 400", breaks="HTTP-41")
def change(response: Response, turn: Turn) -> None:
    named = turn.call is not None and turn.call.header("mcp-session-id") is not None
    if named and response.status == 404:
        response.status = 400
