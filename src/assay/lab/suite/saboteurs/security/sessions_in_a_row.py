"""Sessions are numbered."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Response, on_response


@on_response("session ids are counted", breaks="SEC-03")
def change(response: Response, context: FaultContext) -> None:
    if response.header("mcp-session-id") is not None and context.method == "initialize":
        number = context.memory["count"] = context.memory.get("count", 0) + 1
        response.set("Mcp-Session-Id", f"0f3c5a7e-session-{number:04}")
