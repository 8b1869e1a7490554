"""Nobody looks at Host."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Request, on_call


@on_call("a foreign Host is served", breaks="CONF-SEC-04.host")
def change(request: Request, context: FaultContext) -> None:
    request.set("Host", "localhost")
    if request.header("origin") == "https://pages.example":
        request.set("Origin", None)
