"""A binary resource is written in hexadecimal with colons."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("the blob of an embedded resource is no base64", breaks="PR-07", server="everything")
def change(reply: Json, context: FaultContext) -> Json:
    for message in reply.get("result", {}).get("messages", []):
        if message["content"]["type"] == "resource":
            message["content"]["resource"].pop("text")
            message["content"]["resource"]["blob"] = "89:50:4e:47"
    return reply
