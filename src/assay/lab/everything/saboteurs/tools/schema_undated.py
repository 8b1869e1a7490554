"""The dialect is the one that everybody means."""

from __future__ import annotations

from assay.lab.everything.spoiling import listed_schema
from assay.lab.harness.sabotage.saboteur import Json, Turn, on_reply


@on_reply("a schema has lost `$schema`", breaks="json-schema-2020-12-$schema")
def change(reply: Json, turn: Turn) -> Json:
    listed_schema(reply, turn).pop("$schema", None)
    return reply
