"""Neither a challenge nor a well-known address leads to the metadata."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import LOCKED, FaultContext, Response, on_response
from assay.lab.suite.sabotaging import drop_from_challenge, is_document


@on_response("the metadata cannot be found", breaks="AU-10", server=LOCKED)
def change(response: Response, context: FaultContext) -> None:
    drop_from_challenge(response, "resource_metadata")
    if is_document(context):
        response.status, response.body = 404, b""
