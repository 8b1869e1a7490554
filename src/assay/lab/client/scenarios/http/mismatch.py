"""A tool marks other arguments than it did when it was listed."""

from __future__ import annotations

from assay.lab.client.checks.http.mismatch import REMARKED
from assay.lab.client.declaring import client_scenario
from assay.lab.harness.scripted_server.answer import Answer, Refused
from assay.lab.harness.scripted_server.brief import LIST_TOOLS, Brief, call
from assay.lab.harness.scripted_server.request_cycle import RequestCycle
from assay.lab.harness.scripted_server.stage import ClientStage
from assay.lab.harness.transport import HTTP_ONLY
from assay.lab.suite.annotation import KEYWORD
from assay.model.error import HEADER_MISMATCH

REGION: dict[str, str] = {"type": "string"}


@client_scenario(
    "Headers that do not fit are mended by listing the tools again",
    brief=Brief(steps=(LIST_TOOLS, call(REMARKED, region="eu")), may_fail=True),
    exercises=("http.mismatch",),
    transports=HTTP_ONLY,
)
async def drive(stage: ClientStage) -> None:
    async def work(cycle: RequestCycle) -> Answer:
        if cycle.asked is None or cycle.asked.header("Mcp-Param-Region") != "eu":
            region[KEYWORD] = "Region"
            raise Refused(HEADER_MISMATCH, "Mcp-Param-Region is missing")
        return {"content": [{"type": "text", "text": "done"}]}

    region = dict(REGION)
    schema = {"type": "object", "properties": {"region": region}}
    stage.host.add_tool({"name": REMARKED, "inputSchema": schema}, work)
