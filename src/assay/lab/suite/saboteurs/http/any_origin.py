"""Nobody looks at Origin."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Request, on_call
from assay.lab.harness.transport import Transport


@on_call(
    "a foreign Origin is served",
    breaks="HTTP-02",
    transports=frozenset({Transport.HTTP, Transport.HTTP_SSE}),
)
def change(request: Request, context: FaultContext) -> None:
    request.set("Origin", None)
