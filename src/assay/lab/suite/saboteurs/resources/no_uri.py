"""Contents come without their URI."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("items of `contents` have no `uri`", breaks="RS-19")
def change(reply: Json, context: FaultContext) -> Json:
    for item in reply.get("result", {}).get("contents", ()):
        del item["uri"]
    return reply
