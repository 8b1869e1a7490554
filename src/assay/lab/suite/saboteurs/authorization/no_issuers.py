"""The metadata does not say who gives out tokens."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import LOCKED, FaultContext, Response, on_response
from assay.lab.suite.sabotaging import is_document


@on_response("the metadata names no authorization server", breaks="AU-08", server=LOCKED)
def change(response: Response, context: FaultContext) -> None:
    if is_document(context) and response.status == 200:
        response.body = b'{"resource": "http://localhost/mcp", "authorization_servers": []}'
