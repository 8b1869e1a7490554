"""An entry has not all that its file says."""

from __future__ import annotations

from assay.lab.everything.double.skills import DOUBLE
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply(
    "an entry leaves out a field of the file", breaks="sep-2640-entry-frontmatter-identical", double=DOUBLE
)
def change(reply: Json, context: FaultContext) -> Json:
    if context.method == "skills/list" and "result" in reply:
        for skill in reply["result"]["skills"]:
            skill["frontmatter"] = {key: skill["frontmatter"][key] for key in ("name", "description")}
    return reply
