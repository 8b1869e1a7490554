"""Nobody looks at Origin."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Request, on_call


@on_call("a foreign Origin is served", breaks="CONF-SEC-04.origin")
def change(request: Request, context: FaultContext) -> None:
    request.set("Origin", None)
