"""A list that may be kept for long changes all the same."""

from __future__ import annotations

from assay.lab.client.declaring import client_scenario
from assay.lab.client.fixtures.listener import BRIEF, CHANGED, acknowledge, offer_changes
from assay.lab.harness.scripted_server.answer import DONE, Answer
from assay.lab.harness.scripted_server.request_cycle import Turn
from assay.lab.harness.scripted_server.stage import Hosting

PAUSE = 0.3


@client_scenario("A change ends what was kept", brief=BRIEF, exercises=("caching.changes",))
async def drive(stage: Hosting) -> None:
    @stage.host.on("subscriptions/listen")
    async def listen(turn: Turn) -> Answer:
        own = await acknowledge(turn, PAUSE)
        turn.host.add_tool({"name": "new"})
        await turn.notify(CHANGED, own)
        await turn.stay()
        return DONE

    stage.host.hints = {"ttlMs": 60_000, "cacheScope": "private"}
    offer_changes(stage.host)
