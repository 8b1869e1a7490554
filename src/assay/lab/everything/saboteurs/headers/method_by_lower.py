"""Mcp-Method is compared without regard to case."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import Request, Turn, on_call


@on_call("Mcp-Method is compared without regard to case", breaks="sep-2243-server-reject-invalid-headers")
def change(request: Request, turn: Turn) -> None:
    if (request.header("mcp-method") or "").lower() == turn.method.lower():
        request.set("Mcp-Method", turn.method)
