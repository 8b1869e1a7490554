"""A manifest begins with its text."""

from __future__ import annotations

from assay.lab.everything.double.skills import DOUBLE
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("a manifest has no frontmatter", breaks="sep-2640-skillmd-frontmatter", double=DOUBLE)
def change(reply: Json, context: FaultContext) -> Json:
    if context.method == "resources/read" and "result" in reply:
        for file in reply["result"]["contents"]:
            file["text"] = file["text"].replace("---", "")
    return reply
