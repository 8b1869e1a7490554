"""Answers under a name that says nothing of them."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Response, on_response


@on_response("answers are sent as text/plain", breaks="CONF-TPT-01.http.sse")
def change(response: Response, context: FaultContext) -> None:
    asked = context.call is not None and context.call.method == "POST"
    if asked and response.status == 200 and response.header("mcp-session-id") is None:
        response.set("Content-Type", "text/plain")
