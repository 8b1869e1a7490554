"""A tool gives something else than its schema says."""

from __future__ import annotations

from assay.lab.client.checks.jsonrpc.misfit import MISFIT
from assay.lab.client.declaring import client_scenario
from assay.lab.client.evidence import AFTER
from assay.lab.harness.scripted_server.answer import Answer
from assay.lab.harness.scripted_server.brief import LIST_TOOLS, Brief, call
from assay.lab.harness.scripted_server.request_cycle import RequestCycle
from assay.lab.harness.scripted_server.stage import ClientStage

SCHEMA = {"type": "object", "properties": {"count": {"type": "integer"}}, "required": ["count"]}


@client_scenario(
    "A result that does not fit its schema is not taken",
    # Who finds the result wanting ends here, and is right.
    brief=Brief(steps=(LIST_TOOLS, call(MISFIT), call(AFTER)), may_fail=True),
    exercises=("jsonrpc.misfit",),
)
async def drive(stage: ClientStage) -> None:
    async def answer(cycle: RequestCycle) -> Answer:
        return {"content": [{"type": "text", "text": "many"}], "structuredContent": {"count": "many"}}

    stage.host.add_tool({"name": MISFIT, "outputSchema": SCHEMA}, answer)
    stage.host.add_tool({"name": AFTER})
