"""A session id is a sentence."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Response, on_response


@on_response("a session id has spaces in it", breaks="HTTP-37")
def change(response: Response, context: FaultContext) -> None:
    if (given := response.header("mcp-session-id")) is not None:
        response.set("Mcp-Session-Id", f"session {given}")
