"""There are tools, and nobody is told."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("tools are served and not declared", breaks="sep-2575-discover-capabilities-match-handlers")
def change(reply: Json, context: FaultContext) -> Json:
    if context.method == "server/discover":
        reply.get("result", {}).get("capabilities", {}).pop("tools", None)
    return reply
