"""The server's own tools change its resources, and a client that asked for it hears of that."""

from __future__ import annotations

from typing import Final

from assay.lab.harness.driver.choice import CHANGING, argument_sets, tools_that, uris_of
from assay.lab.harness.driver.list_change import WATCHED, provoke
from assay.lab.harness.driver.server_stream import open_ears
from assay.lab.harness.driver.stage import Stage
from assay.lab.harness.need import Need
from assay.lab.harness.scenario import scenario
from assay.revisions.revision import Opening

TELLS: Final = Need(
    lambda facts: facts.declares("resources", "subscribe") or facts.declares("resources", "listChanged"),
    "tells of no changes of resources",
)


@scenario(
    "Resources that change",
    exercises=("resources.announced", "resources.subscriptions"),
    needs=(TELLS,),
    window=lambda revision: revision.opening is Opening.HANDSHAKE,
    effects=True,
)
async def drive(stage: Stage) -> None:
    peer = await stage.open()
    facts = stage.facts
    uris = uris_of(facts)[:WATCHED] if facts.declares("resources", "subscribe") else []
    areas = ["resources"] if facts.declares("resources", "listChanged") else []
    for uri in uris:
        await peer.request("resources/subscribe", {"uri": uri})
    if await open_ears(stage, peer):
        await provoke(peer, facts, areas, uris)
    for uri in uris:
        await peer.request("resources/unsubscribe", {"uri": uri})
    # What was on its way while we unsubscribed may still arrive; a round trip later nothing may.
    await peer.sentinel()
    async with peer.probe("unsubscribed"):
        for tool in tools_that(CHANGING, facts):
            await peer.call(tool, argument_sets(tool)[0])
