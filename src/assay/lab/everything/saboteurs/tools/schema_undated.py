"""The dialect is the one that everybody means."""

from __future__ import annotations

from assay.lab.harness.saboteur import Json, Turn, on_reply


@on_reply("a schema has lost `$schema`", breaks="json-schema-2020-12-$schema")
def change(reply: Json, turn: Turn) -> Json:
    if turn.method == "tools/list" and "result" in reply:
        tools = {tool["name"]: tool for tool in reply["result"]["tools"]}
        tools["json_schema_2020_12_tool"]["inputSchema"].pop("$schema")
    return reply
