"""Two skills have the same name."""

from __future__ import annotations

from assay.lab.everything.double.skills import DOUBLE
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("a name is there twice", breaks="sep-2640-names-should-be-unique", double=DOUBLE)
def change(reply: Json, context: FaultContext) -> Json:
    if context.method == "skills/list" and "result" in reply:
        for skill in reply["result"]["skills"]:
            skill["uri"] = skill["uri"].replace("acme/refunds", "acme/pdf-tools")
    return reply
