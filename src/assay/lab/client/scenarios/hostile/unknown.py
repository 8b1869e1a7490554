"""In the middle of a call, the host says and asks what no client knows."""

from __future__ import annotations

from assay.lab.client.checks.hostile.unknown import REMARK, TELLING
from assay.lab.client.declaring import client_scenario
from assay.lab.client.evidence import AFTER
from assay.lab.client.fixtures.hostility import WELL
from assay.lab.harness.scripted_server.answer import Answer
from assay.lab.harness.scripted_server.brief import LIST_TOOLS, Brief, call
from assay.lab.harness.scripted_server.request_cycle import RequestCycle
from assay.lab.harness.scripted_server.stage import ClientStage
from assay.revisions.revision import Asking


@client_scenario(
    "What a client does not know is ignored, or refused",
    brief=Brief(steps=(LIST_TOOLS, call(TELLING), call(AFTER)), may_fail=True),
    exercises=("hostile.unknown",),
)
async def drive(stage: ClientStage) -> None:
    async def tell(cycle: RequestCycle) -> Answer:
        await cycle.notify(REMARK, {"text": "nobody knows this one"})
        await cycle.notify("notifications/cancelled", {"requestId": "never-asked", "reason": "none"})
        if cycle.revision.asking is Asking.BY_REQUEST:
            await cycle.ask("lab/no-such-method", {})
            await cycle.ask("roots/list", {})
        return WELL

    stage.host.add_tool({"name": TELLING}, tell)
    stage.host.add_tool({"name": AFTER})
