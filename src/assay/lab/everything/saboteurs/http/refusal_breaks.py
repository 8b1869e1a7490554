"""What is refused breaks something."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Response, on_response


@on_response("a foreign Origin is answered with 500", breaks="localhost-host-rebinding-rejected")
def change(response: Response, context: FaultContext) -> None:
    if response.status == 403:
        response.status = 500
