"""A question is of a kind that no client knows."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("a question is a method of the server's own", breaks="MR-04", scenario="stateless.asking")
def change(reply: Json, context: FaultContext) -> Json:
    for asked in reply.get("result", {}).get("inputRequests", {}).values():
        asked["method"] = "user/confirm"
    return reply
