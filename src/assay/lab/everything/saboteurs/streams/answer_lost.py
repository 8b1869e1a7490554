"""Who comes back is told that nothing was missed."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Request, Response, on_call


@on_call("the answer is not on the stream that goes on", breaks="server-sse-disconnect-resume")
def change(request: Request, context: FaultContext) -> Response | None:
    if request.method != "GET" or request.header("last-event-id") is None:
        return None
    return Response([("Content-Type", "text/event-stream")], 200, b": nothing new\n\n")
