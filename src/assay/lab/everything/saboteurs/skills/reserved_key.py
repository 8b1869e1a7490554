"""A skill uses a key that is reserved."""

from __future__ import annotations

from assay.lab.everything.double.skills import DOUBLE
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply(
    "metadata has a key under io.modelcontextprotocol/",
    breaks="sep-2640-metadata-reserved-prefix",
    double=DOUBLE,
)
def change(reply: Json, context: FaultContext) -> Json:
    if context.method == "skills/list" and "result" in reply:
        for skill in reply["result"]["skills"]:
            skill["frontmatter"] = {**skill["frontmatter"], "metadata": {"io.modelcontextprotocol/x": "1"}}
    return reply
