"""Nobody refers to it."""

from __future__ import annotations

from assay.lab.everything.spoiling import listed_schema
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply
from assay.revisions.revision import Structured


@on_reply(
    "a schema has lost `$anchor`",
    breaks="sep-2106-anchor-keyword-preserved",
    window=lambda revision: revision.structured is Structured.ANY,
)
def change(reply: Json, context: FaultContext) -> Json:
    if schema := listed_schema(reply, context):
        schema["$defs"]["address"].pop("$anchor")
    return reply
