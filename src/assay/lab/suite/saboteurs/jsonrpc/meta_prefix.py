"""A prefix of `_meta` with an underscore in it."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("a key of `_meta` has an underscore in its prefix", breaks="META-01")
def change(reply: Json, context: FaultContext) -> Json:
    if isinstance(reply.get("result"), dict):
        reply["result"].setdefault("_meta", {})["my_server/trace"] = "7f"
    return reply
