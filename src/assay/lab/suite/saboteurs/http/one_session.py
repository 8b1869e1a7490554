"""All clients share one session."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Response, on_response


@on_response("every client gets the same session id", breaks="HTTP-36")
def change(response: Response, context: FaultContext) -> None:
    if response.header("mcp-session-id") is not None:
        response.set("Mcp-Session-Id", "the-session-of-this-server")
