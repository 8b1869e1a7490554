"""Origins are refused like any bad input."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Response, on_response


@on_response("a foreign Origin gets 400", breaks="HTTP-03")
def change(response: Response, context: FaultContext) -> None:
    response.status = 400 if response.status == 403 else response.status
