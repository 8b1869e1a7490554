"""A server that says it has no prompts, and has."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply
from assay.revisions.revision import Opening


@on_reply(
    "a method of a capability that is not advertised is served",
    breaks="BASE-26",
    window=lambda revision: revision.opening is Opening.PER_REQUEST,
)
def change(reply: Json, context: FaultContext) -> Json:
    if context.method == "server/discover" and "result" in reply:
        reply["result"]["capabilities"].pop("prompts", None)
    return reply
