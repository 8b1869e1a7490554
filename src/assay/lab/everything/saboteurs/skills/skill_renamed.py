"""Skills are called otherwise than their directories."""

from __future__ import annotations

from assay.lab.everything.double.skills import DOUBLE
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply(
    "the name is not that of the directory",
    breaks="sep-2640-entry-uri-matches-frontmatter-name",
    double=DOUBLE,
)
def change(reply: Json, context: FaultContext) -> Json:
    if context.method == "skills/list" and "result" in reply:
        for skill in reply["result"]["skills"]:
            skill["frontmatter"] = {**skill["frontmatter"], "name": "another"}
    return reply
