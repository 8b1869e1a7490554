"""A directory looks like a file."""

from __future__ import annotations

from assay.lab.everything.double.skills import DOUBLE
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply(
    "a directory has the type of a file", breaks="sep-2640-directory-read-subdir-mimetype", double=DOUBLE
)
def change(reply: Json, context: FaultContext) -> Json:
    if context.method == "resources/directory/read" and "result" in reply:
        for item in reply["result"]["resources"]:
            item["mimeType"] = "text/markdown"
    return reply
