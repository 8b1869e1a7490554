"""A subscription is ended, and the resource changes once more."""

from __future__ import annotations

from assay.lab.everything.declaring import official_scenario
from assay.lab.everything.fixture import fixture_resource
from assay.lab.everything.watched import WATCHED, change, changing_tool, heard_of_change
from assay.lab.harness.ears import open_ears
from assay.lab.harness.need import declares
from assay.lab.harness.stage import Stage


@official_scenario(
    "resources-unsubscribe",
    "After unsubscribing no updates come",
    needs=(declares("resources", "subscribe"), fixture_resource(WATCHED)),
)
async def drive(stage: Stage) -> None:
    peer = await stage.open()
    hears = await open_ears(stage, peer)
    await peer.request("resources/subscribe", {"uri": WATCHED})
    tool = changing_tool(stage.facts)
    # The control: while it is subscribed to, its changes are heard of.
    heard = hears and tool is not None and await heard_of_change(peer, tool)
    await peer.request("resources/unsubscribe", {"uri": WATCHED})
    if tool is None or not heard:
        return
    # What was on its way while we unsubscribed may still arrive; a round trip later nothing may.
    await peer.sentinel()
    async with peer.probe("unsubscribed"):
        await change(peer, tool)
