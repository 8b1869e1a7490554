"""Errors are errors of the server, by their HTTP status."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import Response, Turn, on_response


@on_response("an unknown method gets HTTP 500", breaks="CONF-JRPC-03.unknown-method")
def change(response: Response, turn: Turn) -> None:
    if "no-such" in turn.method or "no/such" in turn.method:
        response.status = 500
