"""A header whose name is in capitals is not found."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Request, on_call


@on_call("a header whose name is in capitals is not found", breaks="sep-2243-header-name-case-insensitive")
def change(request: Request, context: FaultContext) -> None:
    request.headers = [(name, value) for name, value in request.headers if name != "MCP-METHOD"]
