"""A subscription is ended, and the resource changes once more."""

from __future__ import annotations

from assay.lab.everything.declaring import official_scenario
from assay.lab.everything.watched import NEEDS, WATCHED, change, watch
from assay.lab.harness.driver.stage import Stage


@official_scenario("resources-unsubscribe", "After unsubscribing no updates come", needs=NEEDS)
async def drive(stage: Stage) -> None:
    peer, tool = await watch(stage)  # the control: while it is subscribed to, its changes are heard of
    await peer.request("resources/unsubscribe", {"uri": WATCHED})
    if tool is None:
        return
    # What was on its way while we unsubscribed may still arrive; a round trip later nothing may.
    await peer.sentinel()
    async with peer.probe("unsubscribed"):
        await change(peer, tool)
