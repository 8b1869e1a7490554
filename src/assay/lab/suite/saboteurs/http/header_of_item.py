"""A mark stands inside a list."""

from __future__ import annotations

from typing import Any

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("the items of a list are marked", breaks="XH-07", server="everything")
def change(reply: Json, context: FaultContext) -> Json:
    for tool in reply.get("result", {}).get("tools", []):
        properties: dict[str, Any] = tool["inputSchema"].get("properties", {})
        if "region" in properties:
            properties["more"] = {"type": "array", "items": properties.pop("region")}
    return reply
