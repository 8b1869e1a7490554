"""GET shows a page for people."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Request, Response, on_call


@on_call("GET gets a page of HTML", breaks="HTTP-28")
def change(request: Request, context: FaultContext) -> Response | None:
    if request.method != "GET":
        return None
    return Response([("Content-Type", "text/html")], 200, b"<h1>MCP server</h1>")
