"""There is no metadata."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import LOCKED, FaultContext, Request, Response, on_call
from assay.lab.suite.sabotaging import is_document


@on_call("no metadata of the resource is served", breaks="AU-07", server=LOCKED)
def change(request: Request, context: FaultContext) -> Response | None:
    return Response([], 404) if is_document(context) else None
