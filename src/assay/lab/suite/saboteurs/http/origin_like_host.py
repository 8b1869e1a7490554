"""An origin is its own if it is what Host says, and after rebinding it is."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Request, on_call


@on_call("an Origin that equals a forged Host is served", breaks="HTTP-02")
def change(request: Request, context: FaultContext) -> None:
    if request.header("origin") == f"http://{request.header('host')}":
        request.set("Origin", None)
        request.set("Host", "localhost")
