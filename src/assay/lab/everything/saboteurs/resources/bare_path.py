"""A URI is a path."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("a resource's URI has no scheme", breaks="resources-list")
def change(reply: Json, context: FaultContext) -> Json:
    if context.method == "resources/list" and "result" in reply:
        reply["result"]["resources"][0]["uri"] = "/static/text"
    return reply
