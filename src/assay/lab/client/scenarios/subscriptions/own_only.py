"""A notification of somebody else's subscription comes before one of the client's own."""

from __future__ import annotations

import asyncio

from assay.lab.client.checks.subscriptions.own_only import FOREIGN, OWN
from assay.lab.client.declaring import client_scenario
from assay.lab.client.fixtures.listener import BRIEF, CHANGED, acknowledge, offer_changes
from assay.lab.harness.driver.message_meta import SUBSCRIPTION_KEY
from assay.lab.harness.scripted_server.answer import DONE, Answer
from assay.lab.harness.scripted_server.request_cycle import RequestCycle
from assay.lab.harness.scripted_server.stage import ClientStage
from assay.lab.harness.transport import STDIO_ONLY

PAUSE = 0.4
"""Seconds in which a client shows whether it takes the foreign one for its own."""


@client_scenario(
    "Notifications are told apart by the subscription that they name",
    brief=BRIEF,
    exercises=("subscriptions.own-only",),
    transports=STDIO_ONLY,
)
async def drive(stage: ClientStage) -> None:
    @stage.host.on("subscriptions/listen")
    async def listen(cycle: RequestCycle) -> Answer:
        own = await acknowledge(cycle, PAUSE)
        cycle.host.mark(FOREIGN)
        await cycle.notify(CHANGED, {"_meta": {SUBSCRIPTION_KEY: f"not-{cycle.id}"}})
        await asyncio.sleep(PAUSE)
        cycle.host.mark(OWN)
        await cycle.notify(CHANGED, own)
        await cycle.stay()
        return DONE

    offer_changes(stage.host)
