"""Only the Host is looked at, and a page of another site can name the right one."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Request, on_call


@on_call("a foreign Origin is served where the Host is right", breaks="localhost-host-rebinding-rejected")
def change(request: Request, context: FaultContext) -> None:
    if request.header("host") != "evil.example.com":
        request.set("Origin", None)
