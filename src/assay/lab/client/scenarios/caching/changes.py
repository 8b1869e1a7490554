"""A list that may be kept for long changes all the same."""

from __future__ import annotations

from assay.lab.client.declaring import client_scenario
from assay.lab.client.fixtures.listener import BRIEF, CHANGED, acknowledge, offer_changes
from assay.lab.harness.scripted_server.answer import DONE, Answer
from assay.lab.harness.scripted_server.request_cycle import RequestCycle
from assay.lab.harness.scripted_server.stage import ClientStage

PAUSE = 0.3


@client_scenario("A change ends what was kept", brief=BRIEF, exercises=("caching.changes",))
async def drive(stage: ClientStage) -> None:
    @stage.host.on("subscriptions/listen")
    async def listen(cycle: RequestCycle) -> Answer:
        own = await acknowledge(cycle, PAUSE)
        cycle.host.add_tool({"name": "new"})
        await cycle.notify(CHANGED, own)
        await cycle.stay()
        return DONE

    stage.host.hints = {"ttlMs": 60_000, "cacheScope": "private"}
    offer_changes(stage.host)
