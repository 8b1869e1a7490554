"""A conversation is opened here and goes on at another address, as with the two endpoints of old."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import Request, Response, Turn, on_call


@on_call("POST on the endpoint gets 405 once the conversation is open", breaks="HTTP-01")
def change(request: Request, turn: Turn) -> Response | None:
    if request.method != "POST" or turn.method == "initialize" or not turn.memory.setdefault("asked", []):
        turn.memory.setdefault("asked", []).append(turn.method)
        return None
    return Response([("Allow", "GET")], 405, b"")
