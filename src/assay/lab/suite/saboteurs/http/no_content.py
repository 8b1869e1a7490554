"""The framework turns an empty answer into 204."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Response, on_response


@on_response("an accepted notification gets 204", breaks="HTTP-10")
def change(response: Response, context: FaultContext) -> None:
    response.status = 204 if response.status == 202 else response.status
