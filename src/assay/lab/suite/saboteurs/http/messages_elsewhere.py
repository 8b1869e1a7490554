"""A conversation is opened here and goes on at another address, as with the two endpoints of old."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Request, Response, on_call


@on_call("POST on the endpoint gets 405 once the conversation is open", breaks="HTTP-01")
def change(request: Request, context: FaultContext) -> Response | None:
    if (
        request.method != "POST"
        or context.method == "initialize"
        or not context.memory.setdefault("asked", [])
    ):
        context.memory.setdefault("asked", []).append(context.method)
        return None
    return Response([("Allow", "GET")], 405, b"")
