"""Streams are not bound to users."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import LOCKED, FaultContext, Request, on_call
from assay.lab.suite.sabotaging import as_first, remember_first


@on_call(
    "a stream of another user is opened",
    breaks="SEC-04",
    server=LOCKED,
    window=lambda revision: revision.http.sessions,
)
def change(request: Request, context: FaultContext) -> None:
    remember_first(request, context)
    if request.method == "GET":
        as_first(request, context)
