"""The list of tools says nothing of caches."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("the list of tools has no `cacheScope`", breaks="sep-2549-tools-list-caching-hints")
def change(reply: Json, context: FaultContext) -> Json:
    if context.method == "tools/list":
        reply.get("result", {}).pop("cacheScope", None)
    return reply
