"""Subscriptions that begin: one for everything, one with a wish that nobody knows."""

from __future__ import annotations

from assay.lab.harness.driver.choice import uris_of
from assay.lab.harness.driver.list_change import LISTS
from assay.lab.harness.driver.stage import Stage
from assay.lab.harness.scenario import scenario
from assay.lab.suite.listening import ACKNOWLEDGED
from assay.lab.suite.subscription import LISTEN, TELLS


@scenario(
    "Listening",
    exercises=("stateless.acknowledged", "stateless.listen-stream"),
    needs=(TELLS,),
    window=lambda revision: LISTEN in revision.requests,
)
async def drive(stage: Stage) -> None:
    peer = await stage.open()
    await peer.request("server/discover")
    lists = {f"{area}ListChanged": True for area in LISTS}
    everything = {**lists, "resourceSubscriptions": uris_of(stage.facts)}
    first = await peer.start(LISTEN, {"notifications": everything})
    await peer.hear(ACKNOWLEDGED, first)
    odd = {"toolsListChanged": True, "assayLabListChanged": True}
    second = await peer.start(LISTEN, {"notifications": odd}, request_id="listens by name")
    await peer.hear(ACKNOWLEDGED, second)
