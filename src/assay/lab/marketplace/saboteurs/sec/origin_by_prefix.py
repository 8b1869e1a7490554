"""An origin is taken for this machine's by how it begins."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Request, on_call


@on_call("an Origin that begins like localhost is served", breaks="CONF-SEC-04.origin")
def change(request: Request, context: FaultContext) -> None:
    if (request.header("origin") or "").startswith("http://localhost"):
        request.set("Origin", None)
