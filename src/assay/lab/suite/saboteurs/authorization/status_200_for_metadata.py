"""A page for people is at the address of the metadata."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import (
    LOCKED,
    FaultContext,
    Response,
    newest_of_each_kind,
    on_response,
)
from assay.lab.suite.sabotaging import is_document


@on_response("the metadata is a page", breaks="AU-07", server=LOCKED, window=newest_of_each_kind)
def change(response: Response, context: FaultContext) -> None:
    if is_document(context):
        response.set("Content-Type", "text/html")
        response.body = b"<p>Welcome</p>"
