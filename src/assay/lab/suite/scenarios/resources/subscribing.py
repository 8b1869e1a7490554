"""A subscription that begins and ends."""

from __future__ import annotations

from assay.lab.harness.driver.choice import uris_of
from assay.lab.harness.driver.stage import Stage
from assay.lab.harness.need import A_RESOURCE, declares
from assay.lab.harness.scenario import scenario
from assay.revisions.revision import Opening


@scenario(
    "Subscribing to a resource",
    exercises=("resources.subscriptions",),
    needs=(declares("resources", "subscribe"), A_RESOURCE),
    window=lambda revision: revision.opening is Opening.HANDSHAKE,
    official="resources-subscribe",
)
async def drive(stage: Stage) -> None:
    peer = await stage.open()
    for uri in uris_of(stage.facts)[:1]:
        await peer.request("resources/subscribe", {"uri": uri})
        await peer.request("resources/unsubscribe", {"uri": uri})
