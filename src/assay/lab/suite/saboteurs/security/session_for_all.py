"""A session, or state that was given out, is served for whoever has a good token."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import LOCKED, Request, Turn, on_call
from assay.lab.suite.sabotaging import as_first, remember_first


@on_call("a session of another user is taken", breaks="SEC-04", server=LOCKED)
def change(request: Request, turn: Turn) -> None:
    remember_first(request, turn)
    if request.header("mcp-session-id") or "requestState" in turn.params:
        as_first(request, turn)
