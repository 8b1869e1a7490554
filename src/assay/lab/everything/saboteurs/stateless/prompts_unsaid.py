"""There are prompts, and nobody is told."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("prompts are not declared", breaks="sep-2575-server-declares-prompts-in-discover")
def change(reply: Json, context: FaultContext) -> Json:
    if context.method == "server/discover":
        reply.get("result", {}).get("capabilities", {}).pop("prompts", None)
    return reply
