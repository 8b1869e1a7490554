"""The end of something is announced that the client never heard of."""

from __future__ import annotations

from assay.lab.client.declaring import client_scenario
from assay.lab.client.evidence import AFTER
from assay.lab.harness.scripted_server.answer import Answer
from assay.lab.harness.scripted_server.brief import LIST_TOOLS, Brief, call
from assay.lab.harness.scripted_server.request_cycle import Turn
from assay.lab.harness.scripted_server.stage import Hosting


@client_scenario(
    "The end of an unknown elicitation is ignored",
    brief=Brief(steps=(LIST_TOOLS, call("announcing"), call(AFTER))),
    exercises=("asking.unknown-completion",),
    window=lambda revision: "url" in revision.elicitation and revision.elicitation_ids,
)
async def drive(stage: Hosting) -> None:
    async def announce(turn: Turn) -> Answer:
        await turn.notify("notifications/elicitation/complete", {"elicitationId": "never heard of"})
        return {"content": []}

    stage.host.add_tool({"name": "announcing"}, announce)
    stage.host.add_tool({"name": AFTER})
