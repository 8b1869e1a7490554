"""A manifest cannot be read."""

from __future__ import annotations

from assay.lab.everything.double.skills import DOUBLE
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("a manifest that is listed has no contents", breaks="sep-2640-skillmd-required", double=DOUBLE)
def change(reply: Json, context: FaultContext) -> Json:
    if context.method == "resources/read" and "result" in reply:
        reply["result"]["contents"] = []
    return reply
