"""A list that may be kept for long changes all the same."""

from __future__ import annotations

import asyncio

from assay.lab.client.checks.caching.changes import CHANGED
from assay.lab.client.declaring import client_scenario
from assay.lab.harness.hosting.answer import DONE, Answer
from assay.lab.harness.hosting.brief import LIST_TOOLS, Brief, step
from assay.lab.harness.hosting.hosting import Hosting
from assay.lab.harness.hosting.turn import Turn
from assay.lab.harness.message_meta import SUBSCRIPTION_KEY

STEPS = (
    LIST_TOOLS,
    step("listen", notifications={"toolsListChanged": True}),
    step("relist_on_change", seconds=5),
)
PAUSE = 0.3


@client_scenario(
    "A change ends what was kept",
    brief=Brief(steps=STEPS),
    exercises=("caching.changes",),
)
async def drive(stage: Hosting) -> None:
    @stage.host.on("subscriptions/listen")
    async def listen(turn: Turn) -> Answer:
        own = {SUBSCRIPTION_KEY: turn.id}
        about = {"notifications": turn.params.get("notifications") or {}, "_meta": own}
        await turn.notify("notifications/subscriptions/acknowledged", about)
        await asyncio.sleep(PAUSE)  # until the client has come to wait
        turn.host.add_tool({"name": "new"})
        await turn.notify(CHANGED, {"_meta": own})
        await turn.stay()
        return DONE

    stage.host.hints = {"ttlMs": 60_000, "cacheScope": "private"}
    stage.host.add_tool({"name": "work"})
    stage.host.capabilities["tools"]["listChanged"] = True
