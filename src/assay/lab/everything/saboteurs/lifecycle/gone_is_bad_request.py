"""What is not there is a bad request."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Response, on_response


@on_response("an ended session gets 400", breaks="server-session-terminated-returns-404")
def change(response: Response, context: FaultContext) -> None:
    if response.status == 404:
        response.status = 400
