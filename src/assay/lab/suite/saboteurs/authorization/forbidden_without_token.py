"""Whoever shows no token is forbidden to come in, not asked for one."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import LOCKED, FaultContext, Response, on_response


@on_response("a request without a token gets 403", breaks="AU-05", server=LOCKED)
def change(response: Response, context: FaultContext) -> None:
    if response.status == 401:
        response.status = 403
