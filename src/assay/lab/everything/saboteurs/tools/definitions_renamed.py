"""Definitions are called as they were before."""

from __future__ import annotations

from assay.lab.everything.spoiling import listed_schema
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("`$defs` has become `definitions`", breaks="json-schema-2020-12-$defs")
def change(reply: Json, context: FaultContext) -> Json:
    if schema := listed_schema(reply, context):
        schema["definitions"] = schema.pop("$defs")
    return reply
