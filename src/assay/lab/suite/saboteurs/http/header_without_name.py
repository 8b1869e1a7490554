"""A parameter is marked, and its header has no name."""

from __future__ import annotations

from typing import Any

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("a parameter is marked with an empty name", breaks="XH-02", server="everything")
def change(reply: Json, context: FaultContext) -> Json:
    for tool in reply.get("result", {}).get("tools", []):
        properties: dict[str, Any] = tool["inputSchema"].get("properties", {})
        if "region" in properties:
            properties["region"]["x-mcp-header"] = ""
    return reply
