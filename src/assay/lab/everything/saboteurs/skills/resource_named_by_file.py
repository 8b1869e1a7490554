"""The resource of a manifest is called like its file."""

from __future__ import annotations

from assay.lab.everything.double.skills import DOUBLE
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply(
    "the resource of a manifest has another name", breaks="sep-2640-skillmd-metadata-name", double=DOUBLE
)
def change(reply: Json, context: FaultContext) -> Json:
    if context.method == "resources/list" and "result" in reply:
        for item in reply["result"]["resources"]:
            item["name"] = "SKILL.md"
    return reply
