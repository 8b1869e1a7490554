"""A scheme is named like a variable."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("a scheme has an underscore in it", breaks="RS-18")
def change(reply: Json, context: FaultContext) -> Json:
    for item in reply.get("result", {}).get("resources", ()):
        item["uri"] = item["uri"].replace("file:", "my_files:")
    return reply
