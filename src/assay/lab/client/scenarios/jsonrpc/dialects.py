"""Results that fit their schema in one dialect, and would not in another."""

from __future__ import annotations

from typing import Any

from assay.lab.client.checks.jsonrpc.dialects import NAMED, USUAL
from assay.lab.client.declaring import client_scenario
from assay.lab.client.evidence import AFTER
from assay.lab.harness.scripted_server.answer import Answer
from assay.lab.harness.scripted_server.brief import LIST_TOOLS, Brief, call
from assay.lab.harness.scripted_server.request_cycle import RequestCycle
from assay.lab.harness.scripted_server.stage import ClientStage

STRING, NUMBER = {"type": "string"}, {"type": "number"}
# In the usual dialect the first item is a text; who knows older ones only would want a number there.
NEW: dict[str, Any] = {"prefixItems": [STRING], "items": NUMBER}
# In an older one the same is written so, which the usual one does not allow.
OLD: dict[str, Any] = {"items": [STRING], "additionalItems": NUMBER}


@client_scenario(
    "Schemas are read in the dialect that they name, or in the usual one",
    brief=Brief(steps=(LIST_TOOLS, call(USUAL), call(NAMED), call(AFTER))),
    exercises=("jsonrpc.dialects",),
)
async def drive(stage: ClientStage) -> None:
    async def answer(cycle: RequestCycle) -> Answer:
        return {"content": [{"type": "text", "text": "[]"}], "structuredContent": {"row": ["a", 1, 2]}}

    named = {"$schema": "http://json-schema.org/draft-07/schema#"}
    for name, items, more in ((USUAL, NEW, {}), (NAMED, OLD, named)):
        row = {"type": "array", **items}
        schema = {**more, "type": "object", "properties": {"row": row}, "required": ["row"]}
        stage.host.add_tool({"name": name, "outputSchema": schema}, answer)
    stage.host.add_tool({"name": AFTER})
