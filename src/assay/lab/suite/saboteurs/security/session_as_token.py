"""Whoever knows a session, or state that was given out, needs no token."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import LOCKED, Request, Turn, on_call
from assay.lab.suite.sabotaging import as_first, lacks_token, remember_first


@on_call("a session id stands for a token", breaks="SEC-02", server=LOCKED)
def change(request: Request, turn: Turn) -> None:
    remember_first(request, turn)
    if lacks_token(request) and (request.header("mcp-session-id") or "requestState" in turn.params):
        as_first(request, turn)
