"""The name of a header is a phrase."""

from __future__ import annotations

from typing import Any

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("the name of a header has a space in it", breaks="XH-03", server="everything")
def change(reply: Json, context: FaultContext) -> Json:
    for tool in reply.get("result", {}).get("tools", []):
        properties: dict[str, Any] = tool["inputSchema"].get("properties", {})
        if "region" in properties:
            properties["region"]["x-mcp-header"] = "Where To"
    return reply
