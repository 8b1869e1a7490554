"""Spaces around the value of a header are taken for a part of it."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Request, Response, on_call

REFUSED = b'{"jsonrpc":"2.0","id":%d,"error":{"code":-32020,"message":"Mcp-Name differs"}}'


@on_call("spaces around Mcp-Name are a part of it", breaks="sep-2243-server-accepts-whitespace-header-value")
def change(request: Request, context: FaultContext) -> Response | None:
    # Whoever reads the head has dropped the spaces: the second call of a tool is the one that had some.
    calls = context.memory["calls"] = context.memory.get("calls", 0) + (context.method == "tools/call")
    if context.method != "tools/call" or calls != 2 or context.asked is None:
        return None
    return Response([("Content-Type", "application/json")], 400, REFUSED % context.asked["id"])
