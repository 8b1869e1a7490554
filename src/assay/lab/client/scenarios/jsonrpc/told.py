"""The host sends notifications in the middle of a call: one that is known, and one that nobody knows."""

from __future__ import annotations

from assay.lab.client.declaring import client_scenario
from assay.lab.client.evidence import AFTER
from assay.lab.harness.scripted_server.answer import Answer
from assay.lab.harness.scripted_server.brief import LIST_TOOLS, Brief, call
from assay.lab.harness.scripted_server.request_cycle import RequestCycle
from assay.lab.harness.scripted_server.stage import ClientStage


@client_scenario(
    "Notifications are not answered",
    brief=Brief(steps=(LIST_TOOLS, call("telling"), call(AFTER))),
    exercises=("jsonrpc.nameless",),
)
async def drive(stage: ClientStage) -> None:
    async def tell(cycle: RequestCycle) -> Answer:
        await cycle.progress(1, 2)
        await cycle.notify("notifications/lab/remark", {"text": "nobody knows this one"})
        return {"content": [{"type": "text", "text": "told"}]}

    stage.host.add_tool({"name": "telling"}, tell)
    stage.host.add_tool({"name": AFTER})
