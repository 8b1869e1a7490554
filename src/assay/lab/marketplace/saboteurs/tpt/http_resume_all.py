"""A server that begins again at the first event."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Request, Response, on_call


@on_call("Last-Event-ID is lost on the way", breaks="CONF-TPT-01.http.resume")
def change(request: Request, context: FaultContext) -> Response | None:
    request.set("Last-Event-ID", None)
    return None
