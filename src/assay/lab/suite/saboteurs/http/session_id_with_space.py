"""A session id is a sentence."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import Response, Turn, on_response


@on_response("a session id has spaces in it", breaks="HTTP-37")
def change(response: Response, turn: Turn) -> None:
    if (given := response.header("mcp-session-id")) is not None:
        response.set("Mcp-Session-Id", f"session {given}")
