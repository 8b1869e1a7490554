"""A directory does not tell of all its children."""

from __future__ import annotations

from assay.lab.everything.double.skills import DOUBLE
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply(
    "a child of a directory is left out",
    breaks="sep-2640-directory-read-result-resources-shape",
    double=DOUBLE,
)
def change(reply: Json, context: FaultContext) -> Json:
    if context.method == "resources/directory/read" and "result" in reply:
        reply["result"]["resources"] = reply["result"]["resources"][1:]
    return reply
