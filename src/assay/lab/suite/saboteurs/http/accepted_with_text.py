"""What is accepted is said in words, too."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Response, on_response


@on_response("202 comes with the text Accepted", breaks="HTTP-10")
def change(response: Response, context: FaultContext) -> None:
    if response.status == 202:
        response.set("Content-Type", "text/plain")
        response.body = b"Accepted"
