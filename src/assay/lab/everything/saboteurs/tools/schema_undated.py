"""The dialect is the one that everybody means."""

from __future__ import annotations

from assay.lab.everything.spoiling import listed_schema
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("a schema has lost `$schema`", breaks="json-schema-2020-12-$schema")
def change(reply: Json, context: FaultContext) -> Json:
    listed_schema(reply, context).pop("$schema", None)
    return reply
