"""Too small a scope is answered like a bad token."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import LOCKED, FaultContext, Response, on_response


@on_response("too small a scope gets 401", breaks="AU-06", server=LOCKED)
def change(response: Response, context: FaultContext) -> None:
    if response.status == 403:
        response.status = 401
