"""A name in `_meta` that begins with a dollar sign."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("a key of `_meta` begins with `$`", breaks="META-02")
def change(reply: Json, context: FaultContext) -> Json:
    if isinstance(reply.get("result"), dict):
        reply["result"].setdefault("_meta", {})["$internal"] = "7f"
    return reply
