"""A notification of somebody else's subscription comes before one of the client's own."""

from __future__ import annotations

import asyncio

from assay.lab.client.checks.subscriptions.own_only import FOREIGN, OWN
from assay.lab.client.declaring import client_scenario
from assay.lab.client.fixtures.listener import BRIEF, CHANGED, acknowledge, offer_changes
from assay.lab.harness.driver.message_meta import SUBSCRIPTION_KEY
from assay.lab.harness.scripted_server.answer import DONE, Answer
from assay.lab.harness.scripted_server.request_cycle import Turn
from assay.lab.harness.scripted_server.stage import Hosting
from assay.lab.harness.transport import STDIO_ONLY

PAUSE = 0.4
"""Seconds in which a client shows whether it takes the foreign one for its own."""


@client_scenario(
    "Notifications are told apart by the subscription that they name",
    brief=BRIEF,
    exercises=("subscriptions.own-only",),
    transports=STDIO_ONLY,
)
async def drive(stage: Hosting) -> None:
    @stage.host.on("subscriptions/listen")
    async def listen(turn: Turn) -> Answer:
        own = await acknowledge(turn, PAUSE)
        turn.host.mark(FOREIGN)
        await turn.notify(CHANGED, {"_meta": {SUBSCRIPTION_KEY: f"not-{turn.id}"}})
        await asyncio.sleep(PAUSE)
        turn.host.mark(OWN)
        await turn.notify(CHANGED, own)
        await turn.stay()
        return DONE

    offer_changes(stage.host)
