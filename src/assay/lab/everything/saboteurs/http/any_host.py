"""Nobody looks at where a request comes from."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Request, on_call


@on_call("requests from pages of other sites are served", breaks="localhost-host-rebinding-rejected")
def change(request: Request, context: FaultContext) -> None:
    request.set("Origin", None)
    request.set("Host", "localhost")
