"""A header that differs is refused with status 200."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Response, on_response


@on_response("a header that differs gets status 200", breaks="sep-2243-server-reject-invalid-headers")
def change(response: Response, context: FaultContext) -> None:
    response.status = 200 if response.status == 400 else response.status
