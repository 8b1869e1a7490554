"""The children of a directory are mere names."""

from __future__ import annotations

from assay.lab.everything.double.skills import DOUBLE
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("a child has no uri", breaks="sep-2640-directory-read-result-resources-shape", double=DOUBLE)
def change(reply: Json, context: FaultContext) -> Json:
    if context.method == "resources/directory/read" and "result" in reply:
        names = [{"name": item["name"]} for item in reply["result"]["resources"]]
        reply["result"]["resources"] = names
    return reply
