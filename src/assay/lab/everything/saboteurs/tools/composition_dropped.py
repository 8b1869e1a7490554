"""Only properties are kept."""

from __future__ import annotations

from assay.lab.everything.spoiling import listed_schema
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply
from assay.revisions.revision import Structured


@on_reply(
    "a schema has lost `allOf`",
    breaks="sep-2106-composition-keywords-preserved",
    window=lambda revision: revision.structured is Structured.ANY,
)
def change(reply: Json, context: FaultContext) -> Json:
    listed_schema(reply, context).pop("allOf", None)
    return reply
