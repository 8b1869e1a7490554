"""A manifest is no Markdown."""

from __future__ import annotations

from assay.lab.everything.double.skills import DOUBLE
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("the type of a manifest is text/plain", breaks="sep-2640-skillmd-mimetype", double=DOUBLE)
def change(reply: Json, context: FaultContext) -> Json:
    if context.method == "resources/read" and "result" in reply:
        for file in reply["result"]["contents"]:
            file["mimeType"] = "text/plain"
    return reply
