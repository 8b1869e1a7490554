"""The error does not say what was not found."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("an error does not name the resource that does not exist", breaks="sep-2164-data-uri")
def change(reply: Json, context: FaultContext) -> Json:
    if context.method == "resources/read":
        reply.get("error", {}).pop("data", None)
    return reply
