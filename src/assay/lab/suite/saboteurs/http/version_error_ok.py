"""A version header that names no version is refused with 200 and an error inside."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Response, on_response


@on_response("an unknown version header gets 200 and an error", breaks="HTTP-47")
def change(response: Response, context: FaultContext) -> None:
    response.status = 200 if response.status == 400 else response.status
