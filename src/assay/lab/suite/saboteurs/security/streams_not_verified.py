"""Only what is posted is verified."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import LOCKED, FaultContext, Request, on_call
from assay.lab.suite.sabotaging import as_first, is_document, lacks_token, remember_first


@on_call(
    "a stream is opened without a token",
    breaks="SEC-01",
    server=LOCKED,
    window=lambda revision: revision.http.sessions,
)
def change(request: Request, context: FaultContext) -> None:
    remember_first(request, context)
    if lacks_token(request) and request.method == "GET" and not is_document(context):
        as_first(request, context)
