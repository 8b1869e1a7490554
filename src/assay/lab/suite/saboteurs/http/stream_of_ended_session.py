"""Only POST looks whether a session has ended."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Request, Response, on_call


@on_call("a stream is opened for a session that was ended", breaks="HTTP-41")
def change(request: Request, context: FaultContext) -> Response | None:
    if request.method != "GET":
        return None
    return Response([("Content-Type", "text/event-stream")], 200, b":\n\n")
