"""Streams are not bound to users."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import LOCKED, Request, Turn, on_call
from assay.lab.suite.sabotaging import as_first, remember_first


@on_call(
    "a stream of another user is opened",
    breaks="SEC-04",
    server=LOCKED,
    window=lambda revision: revision.http.sessions,
)
def change(request: Request, turn: Turn) -> None:
    remember_first(request, turn)
    if request.method == "GET":
        as_first(request, turn)
