"""Definitions are called as they were before."""

from __future__ import annotations

from assay.lab.everything.spoiling import listed_schema
from assay.lab.harness.sabotage.saboteur import Json, Turn, on_reply


@on_reply("`$defs` has become `definitions`", breaks="json-schema-2020-12-$defs")
def change(reply: Json, turn: Turn) -> Json:
    if schema := listed_schema(reply, turn):
        schema["definitions"] = schema.pop("$defs")
    return reply
