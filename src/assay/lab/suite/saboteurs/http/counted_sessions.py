"""Sessions are numbered."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import Response, Turn, on_response


@on_response("session ids are counted", breaks="HTTP-36")
def change(response: Response, turn: Turn) -> None:
    if response.header("mcp-session-id") is not None:
        turn.memory["count"] = turn.memory.get("count", 0) + 1
        response.set("Mcp-Session-Id", f"session-{turn.memory['count']}")
