"""The metadata tells of another resource."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import (
    LOCKED,
    FaultContext,
    Response,
    newest_of_each_kind,
    on_response,
)
from assay.lab.suite.sabotaging import is_document


@on_response("the metadata names another resource", breaks="AU-07", server=LOCKED, window=newest_of_each_kind)
def change(response: Response, context: FaultContext) -> None:
    if is_document(context) and response.status == 200:
        response.body = (
            b'{"resource": "https://elsewhere.example/mcp", "authorization_servers": ["https://a.example"]}'
        )
