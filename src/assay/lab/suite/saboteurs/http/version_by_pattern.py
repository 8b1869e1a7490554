"""A version is whatever looks like a date."""

from __future__ import annotations

import re

from assay.lab.harness.sabotage.saboteur import FaultContext, Request, on_call


@on_call("any date is taken for a version", breaks="HTTP-47")
def change(request: Request, context: FaultContext) -> None:
    if re.fullmatch(r"\d{4}-\d\d-\d\d", request.header("mcp-protocol-version") or ""):
        request.set("MCP-Protocol-Version", context.revision.date)
