"""What is read does not say by whom it may be kept."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("what is read has no `cacheScope`", breaks="sep-2549-resources-read-caching-hints")
def change(reply: Json, context: FaultContext) -> Json:
    if context.method == "resources/read" and "result" in reply:
        reply["result"].pop("cacheScope", None)
    return reply
