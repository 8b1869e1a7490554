"""Origins are compared by how they begin."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Request, on_call


@on_call("any Origin that begins like a local one is served", breaks="HTTP-02")
def change(request: Request, context: FaultContext) -> None:
    if (request.header("origin") or "").startswith(("http://localhost", "http://127.0.0.1")):
        request.set("Origin", None)
