"""The metadata offers tokens that outlive the visit."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import LOCKED, FaultContext, Response, on_response
from assay.lab.suite.sabotaging import is_document


@on_response("the metadata names offline_access", breaks="AU-77", server=LOCKED)
def change(response: Response, context: FaultContext) -> None:
    if is_document(context) and response.status == 200:
        response.body = (
            b'{"resource": "http://localhost/mcp", "authorization_servers": ["https://a.example"],'
            b' "scopes_supported": ["mcp", "offline_access"]}'
        )
