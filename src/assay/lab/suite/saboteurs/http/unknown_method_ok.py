"""Errors are always sent with status 200."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Response, on_response


@on_response("an unknown method gets status 200", breaks="HTTP-52")
def change(response: Response, context: FaultContext) -> None:
    response.status = 200 if response.status == 404 else response.status
