"""The resource of a manifest is described otherwise."""

from __future__ import annotations

from assay.lab.everything.double.skills import DOUBLE
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply(
    "the resource of a manifest has another description",
    breaks="sep-2640-skillmd-metadata-description",
    double=DOUBLE,
)
def change(reply: Json, context: FaultContext) -> Json:
    if context.method == "resources/list" and "result" in reply:
        for item in reply["result"]["resources"]:
            item["description"] = "A file"
    return reply
