"""A tool whose schema is odd is left out."""

from __future__ import annotations

from assay.lab.everything.spoiling import SCHEMA_TOOL
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("the tool with the schema is not listed", breaks="json-schema-2020-12-tool-found")
def change(reply: Json, context: FaultContext) -> Json:
    if context.method == "tools/list" and "result" in reply:
        listed = reply["result"]["tools"]
        reply["result"]["tools"] = [one for one in listed if one["name"] != SCHEMA_TOOL]
    return reply
