"""The last page says that there is no next one with `null`, where the field must be left out."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("`nextCursor` is null on the last page", breaks="SHAPE-01", scenario="tools.definitions")
def change(reply: Json, context: FaultContext) -> Json:
    if context.method == "tools/list" and "result" in reply:
        reply["result"].setdefault("nextCursor", None)
    return reply
