"""A bad token is answered like a scope that is too small."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import LOCKED, Response, Turn, on_response


@on_response("a bad token gets 403", breaks="AU-65", server=LOCKED)
def change(response: Response, turn: Turn) -> None:
    if response.status == 401 and turn.call is not None and turn.call.header("authorization") is not None:
        response.status = 403
