"""A session id is a sentence."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Response, on_response


@on_response("a session id has a space in it", breaks="server-session-id-visible-ascii")
def change(response: Response, context: FaultContext) -> None:
    if (given := response.header("mcp-session-id")) is not None:
        response.set("Mcp-Session-Id", f"session {given}")
