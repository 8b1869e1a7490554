"""A key has no prefix."""

from __future__ import annotations

from assay.lab.everything.double.skills import DOUBLE
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("a key in `_meta` has no prefix", breaks="sep-2640-meta-prefix", double=DOUBLE)
def change(reply: Json, context: FaultContext) -> Json:
    if context.method == "resources/list" and "result" in reply:
        for item in reply["result"]["resources"]:
            item["_meta"] = {"license": "MIT"}
    return reply
