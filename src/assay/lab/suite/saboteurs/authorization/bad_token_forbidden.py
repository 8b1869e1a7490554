"""A bad token is answered like a scope that is too small."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import LOCKED, FaultContext, Response, on_response


@on_response("a bad token gets 403", breaks="AU-65", server=LOCKED)
def change(response: Response, context: FaultContext) -> None:
    if (
        response.status == 401
        and context.call is not None
        and context.call.header("authorization") is not None
    ):
        response.status = 403
