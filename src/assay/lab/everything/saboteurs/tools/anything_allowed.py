"""What is not known is let through."""

from __future__ import annotations

from assay.lab.everything.spoiling import listed_schema
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("a schema has lost `additionalProperties`", breaks="json-schema-2020-12-additionalProperties")
def change(reply: Json, context: FaultContext) -> Json:
    listed_schema(reply, context).pop("additionalProperties", None)
    return reply
