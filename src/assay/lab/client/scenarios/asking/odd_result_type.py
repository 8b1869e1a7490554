"""A result of a kind that nobody knows."""

from __future__ import annotations

from assay.lab.client.declaring import client_scenario
from assay.lab.client.evidence import AFTER
from assay.lab.harness.scripted_server.answer import Answer
from assay.lab.harness.scripted_server.brief import LIST_TOOLS, Brief, call
from assay.lab.harness.scripted_server.request_cycle import RequestCycle
from assay.lab.harness.scripted_server.stage import ClientStage
from assay.revisions.revision import Asking


@client_scenario(
    "A result of an unknown kind is no result",
    brief=Brief(steps=(LIST_TOOLS, call("quantum"), call(AFTER)), may_fail=True),
    exercises=("asking.result-types",),
    window=lambda revision: revision.asking is Asking.BY_RETRY,
)
async def drive(stage: ClientStage) -> None:
    async def odd(cycle: RequestCycle) -> Answer:
        return {"resultType": "quantum", "content": [{"type": "text", "text": "done"}]}

    stage.host.add_tool({"name": "quantum"}, odd)
    stage.host.add_tool({"name": AFTER})
