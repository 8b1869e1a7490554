"""A manifest has the name of another skill."""

from __future__ import annotations

from assay.lab.everything.double.skills import DOUBLE
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply(
    "the name in the manifest is not that of its directory",
    breaks="sep-2640-final-segment-equals-name",
    double=DOUBLE,
)
def change(reply: Json, context: FaultContext) -> Json:
    if context.method == "resources/read" and "result" in reply:
        for file in reply["result"]["contents"]:
            file["text"] = file["text"].replace("name: ", "name: another-")
    return reply
