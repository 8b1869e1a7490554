"""A number with a fraction goes into a header."""

from __future__ import annotations

from typing import Any

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("a parameter of type number is marked", breaks="XH-06", server="everything")
def change(reply: Json, context: FaultContext) -> Json:
    for tool in reply.get("result", {}).get("tools", []):
        properties: dict[str, Any] = tool["inputSchema"].get("properties", {})
        if "region" in properties:
            properties["depth"]["type"] = "number"
    return reply
