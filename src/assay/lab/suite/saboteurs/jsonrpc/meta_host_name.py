"""A host name as a prefix of `_meta`."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("a key of `_meta` has its prefix in the order of host names", breaks="META-04")
def change(reply: Json, context: FaultContext) -> Json:
    if isinstance(reply.get("result"), dict):
        reply["result"].setdefault("_meta", {})["example.com/trace"] = "7f"
    return reply
