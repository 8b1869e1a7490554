"""The end of something is announced that the client never heard of."""

from __future__ import annotations

from assay.lab.client.declaring import client_scenario
from assay.lab.client.evidence import AFTER
from assay.lab.harness.scripted_server.answer import Answer
from assay.lab.harness.scripted_server.brief import LIST_TOOLS, Brief, call
from assay.lab.harness.scripted_server.request_cycle import RequestCycle
from assay.lab.harness.scripted_server.stage import ClientStage


@client_scenario(
    "The end of an unknown elicitation is ignored",
    brief=Brief(steps=(LIST_TOOLS, call("announcing"), call(AFTER))),
    exercises=("asking.unknown-completion",),
    window=lambda revision: "url" in revision.elicitation and revision.elicitation_ids,
)
async def drive(stage: ClientStage) -> None:
    async def announce(cycle: RequestCycle) -> Answer:
        await cycle.notify("notifications/elicitation/complete", {"elicitationId": "never heard of"})
        return {"content": []}

    stage.host.add_tool({"name": "announcing"}, announce)
    stage.host.add_tool({"name": AFTER})
