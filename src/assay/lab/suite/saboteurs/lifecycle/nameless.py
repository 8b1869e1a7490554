"""The server has a title, but no name and no version."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("`serverInfo` has neither name nor version", breaks="LIFE-03")
def change(reply: Json, context: FaultContext) -> Json:
    if context.method == "initialize" and "result" in reply:
        reply["result"]["serverInfo"] = {"title": "A server"}
    return reply
