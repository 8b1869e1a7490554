"""A resource is named by its path."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("the URI of an embedded resource is a relative path", breaks="PR-07", server="everything")
def change(reply: Json, context: FaultContext) -> Json:
    for message in reply.get("result", {}).get("messages", []):
        if message["content"]["type"] == "resource":
            message["content"]["resource"]["uri"] = "docs/read me.txt"
    return reply
