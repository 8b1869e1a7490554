"""Base64 is compared as it stands."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import Request, Turn, on_call


@on_call("a name in Base64 is refused", breaks="HTTP-60")
def change(request: Request, turn: Turn) -> None:
    if (given := request.header("mcp-name") or "").startswith("=?base64?"):
        request.set("Mcp-Name", f"literally {given}")
