"""A skill that does not exist breaks the server."""

from __future__ import annotations

from assay.lab.everything.double.skills import DOUBLE
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply(
    "an unknown skill is answered with -32603",
    breaks="sep-2640-skills-get-unknown-uri-invalid-params",
    double=DOUBLE,
)
def change(reply: Json, context: FaultContext) -> Json:
    if context.method == "skills/get" and "error" in reply:
        reply["error"]["code"] = -32603
    return reply
