"""Only properties are kept."""

from __future__ import annotations

from assay.lab.harness.saboteur import Json, Turn, on_reply
from assay.revisions.revision import Structured


@on_reply(
    "a schema has lost `allOf`",
    breaks="sep-2106-composition-keywords-preserved",
    window=lambda revision: revision.structured is Structured.ANY,
)
def change(reply: Json, turn: Turn) -> Json:
    if turn.method == "tools/list" and "result" in reply:
        tools = {tool["name"]: tool for tool in reply["result"]["tools"]}
        tools["json_schema_2020_12_tool"]["inputSchema"].pop("allOf")
    return reply
