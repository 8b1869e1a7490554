"""A resource is subscribed to, and changes."""

from __future__ import annotations

from assay.lab.everything.declaring import official_scenario
from assay.lab.everything.fixture import fixture_resource
from assay.lab.everything.watched import WATCHED, changing_tool, heard_of_change
from assay.lab.harness.ears import open_ears
from assay.lab.harness.need import declares
from assay.lab.harness.stage import Stage


@official_scenario(
    "resources-subscribe",
    "A subscription brings updates",
    needs=(declares("resources", "subscribe"), fixture_resource(WATCHED)),
)
async def drive(stage: Stage) -> None:
    peer = await stage.open()
    hears = await open_ears(stage, peer)
    await peer.request("resources/subscribe", {"uri": WATCHED})
    tool = changing_tool(stage.facts)
    if hears and tool is not None:
        await heard_of_change(peer, tool)
