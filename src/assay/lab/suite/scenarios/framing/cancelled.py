"""A request that goes on until it is cancelled, and is."""

from __future__ import annotations

from assay.lab.harness.driver.stage import Stage
from assay.lab.harness.need import Need
from assay.lab.harness.scenario import scenario
from assay.lab.harness.transport import STDIO_ONLY

FILTERS = {"tools": "toolsListChanged", "prompts": "promptsListChanged", "resources": "resourcesListChanged"}
ANNOUNCES = Need(
    lambda facts: any(facts.declares(name, "listChanged") for name in FILTERS), "announces no changes"
)


@scenario(
    "A request that is cancelled",
    exercises=("framing.cancelled-silence",),
    needs=(ANNOUNCES,),
    transports=STDIO_ONLY,
    window=lambda revision: "subscriptions/listen" in revision.requests,
)
async def drive(stage: Stage) -> None:
    peer = await stage.open()
    wanted = {FILTERS[name]: True for name in FILTERS if stage.facts.declares(name, "listChanged")}
    listening = await peer.start("subscriptions/listen", {"notifications": wanted})
    await peer.sentinel()
    await peer.notify("notifications/cancelled", {"requestId": listening.id})
    # What was on its way when the cancellation came may still arrive: only what comes later is judged.
    await peer.sentinel()
    async with peer.probe("cancelled", id=listening.id):
        await peer.sentinel()
