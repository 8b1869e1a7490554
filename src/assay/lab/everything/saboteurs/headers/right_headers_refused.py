"""A request whose headers are right is refused."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import Request, Turn, on_call


@on_call("a right Mcp-Name is refused", breaks="sep-2243-server-standard-setup")
def change(request: Request, turn: Turn) -> None:
    if request.header("mcp-name") == turn.params.get("name"):
        request.set("Mcp-Name", "of-another-kind")
