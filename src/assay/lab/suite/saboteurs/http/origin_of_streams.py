"""The check of origins sits in the code that handles POST."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Request, on_call
from assay.lab.harness.transport import HTTP_ONLY


@on_call(
    "a stream is opened for a foreign Origin",
    breaks="HTTP-02",
    transports=HTTP_ONLY,
    window=lambda revision: revision.http.sessions,
)
def change(request: Request, context: FaultContext) -> None:
    if request.method == "GET":
        request.set("Origin", None)
