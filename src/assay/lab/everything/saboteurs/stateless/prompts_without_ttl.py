"""The list of prompts does not say for how long it holds."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("the list of prompts has no `ttlMs`", breaks="sep-2549-prompts-list-caching-hints")
def change(reply: Json, context: FaultContext) -> Json:
    if context.method == "prompts/list" and "result" in reply:
        reply["result"].pop("ttlMs", None)
    return reply
