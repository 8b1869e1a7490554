"""The list of templates does not say for how long it holds."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("the list of templates has no `ttlMs`", breaks="sep-2549-resources-templates-list-caching-hints")
def change(reply: Json, context: FaultContext) -> Json:
    if context.method == "resources/templates/list" and "result" in reply:
        reply["result"].pop("ttlMs", None)
    return reply
