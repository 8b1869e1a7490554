"""The version header is not compared with the body."""

from __future__ import annotations

from assay.lab.harness.driver.message_meta import VERSION_KEY
from assay.lab.harness.sabotage.saboteur import FaultContext, Request, on_call


@on_call("a version header that differs from the body is served", breaks="HTTP-50")
def change(request: Request, context: FaultContext) -> None:
    told = context.meta.get(VERSION_KEY)
    if told is not None and request.header("mcp-protocol-version") is not None:
        request.set("MCP-Protocol-Version", told)
