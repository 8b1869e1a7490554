"""JSON is sent as text."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Response, on_response


@on_response("a request is answered as text/plain", breaks="HTTP-12")
def change(response: Response, context: FaultContext) -> None:
    if (response.header("content-type") or "").startswith("application/json"):
        response.set("Content-Type", "text/plain")
