"""Changes are announced by a server that did not say it would."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("the capabilities do not mention `prompts.listChanged`", breaks="PR-14")
def change(reply: Json, context: FaultContext) -> Json:
    if context.method in ("initialize", "server/discover") and "result" in reply:
        reply["result"]["capabilities"]["prompts"] = {}
    return reply
