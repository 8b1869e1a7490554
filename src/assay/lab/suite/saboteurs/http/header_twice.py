"""Two parameters go into one header."""

from __future__ import annotations

from typing import Any

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("two names of headers differ in case only", breaks="XH-05", server="everything")
def change(reply: Json, context: FaultContext) -> Json:
    for tool in reply.get("result", {}).get("tools", []):
        properties: dict[str, Any] = tool["inputSchema"].get("properties", {})
        if "region" in properties:
            properties["depth"]["x-mcp-header"] = "REGION"
    return reply
