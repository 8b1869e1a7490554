"""A result type of the server's own, declared nowhere."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("lists are `partial`, a type that no extension declares", breaks="BASE-20")
def change(reply: Json, context: FaultContext) -> Json:
    result = reply.get("result", {})
    if context.method == "server/discover" and "capabilities" in result:
        result["capabilities"].pop("extensions", None)
    if context.method.endswith("/list") and "resultType" in result:
        result["resultType"] = "partial"
    return reply
