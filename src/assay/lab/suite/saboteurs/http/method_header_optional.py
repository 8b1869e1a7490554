"""The method header is compared if it is there."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import Request, Turn, on_call


@on_call("a request without Mcp-Method is served", breaks="HTTP-57")
def change(request: Request, turn: Turn) -> None:
    if request.header("mcp-method") is None and turn.method != "initialize":
        request.set("Mcp-Method", turn.method)
