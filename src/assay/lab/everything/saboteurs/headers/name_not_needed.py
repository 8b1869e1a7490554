"""Mcp-Name may be missing."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import Request, Turn, on_call


@on_call("Mcp-Name may be missing", breaks="sep-2243-server-reject-invalid-headers")
def change(request: Request, turn: Turn) -> None:
    if turn.method == "tools/call" and request.header("mcp-name") is None:
        request.set("Mcp-Name", turn.params["name"])
