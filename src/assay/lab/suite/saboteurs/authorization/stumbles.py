"""Credentials that cannot be read are more than the server can bear."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import (
    LOCKED,
    FaultContext,
    Request,
    Response,
    newest_of_each_kind,
    on_call,
)
from assay.lab.harness.transport import GUARDED


@on_call(
    "malformed credentials get 500",
    breaks="AU-06",
    server=LOCKED,
    transports=GUARDED,
    window=newest_of_each_kind,
)
def change(request: Request, context: FaultContext) -> Response | None:
    words = (request.header("authorization") or "").split()
    return Response([], 500) if len(words) > 2 else None
