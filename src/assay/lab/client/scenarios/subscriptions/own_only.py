"""A notification of somebody else's subscription comes before one of the client's own."""

from __future__ import annotations

import asyncio

from assay.lab.client.checks.subscriptions.own_only import FOREIGN, OWN
from assay.lab.client.declaring import client_scenario
from assay.lab.harness.hosting.answer import DONE, Answer
from assay.lab.harness.hosting.brief import LIST_TOOLS, Brief, step
from assay.lab.harness.hosting.hosting import Hosting
from assay.lab.harness.hosting.turn import Turn
from assay.lab.harness.message_meta import SUBSCRIPTION_KEY
from assay.lab.harness.transport import STDIO_ONLY

CHANGED = "notifications/tools/list_changed"
STEPS = (
    LIST_TOOLS,
    step("listen", notifications={"toolsListChanged": True}),
    step("relist_on_change", seconds=5),
)
PAUSE = 0.4
"""Seconds in which a client shows whether it takes the foreign one for its own."""


@client_scenario(
    "Notifications are told apart by the subscription that they name",
    brief=Brief(steps=STEPS),
    exercises=("subscriptions.own-only",),
    transports=STDIO_ONLY,
)
async def drive(stage: Hosting) -> None:
    @stage.host.on("subscriptions/listen")
    async def listen(turn: Turn) -> Answer:
        own = {SUBSCRIPTION_KEY: turn.id}
        about = {"notifications": turn.params.get("notifications") or {}, "_meta": own}
        await turn.notify("notifications/subscriptions/acknowledged", about)
        await asyncio.sleep(PAUSE)  # until the client has come to wait
        turn.host.mark(FOREIGN)
        await turn.notify(CHANGED, {"_meta": {SUBSCRIPTION_KEY: f"not-{turn.id}"}})
        await asyncio.sleep(PAUSE)
        turn.host.mark(OWN)
        await turn.notify(CHANGED, {"_meta": own})
        await turn.stay()
        return DONE

    stage.host.add_tool({"name": "work"})
    stage.host.capabilities["tools"]["listChanged"] = True
