"""How long a list may be kept is left to the client."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("a list has no `ttlMs`", breaks="CA-01")
def change(reply: Json, context: FaultContext) -> Json:
    if context.method == "tools/list":
        reply.get("result", {}).pop("ttlMs", None)
    return reply
