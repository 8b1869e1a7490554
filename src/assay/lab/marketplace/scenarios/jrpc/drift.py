"""Lists that are read twice, with requests in between that only read."""

from __future__ import annotations

from assay.lab.harness.driver.peer import Peer
from assay.lab.harness.driver.safe_request import errands
from assay.lab.harness.driver.stage import Stage
from assay.lab.harness.need import declares, either
from assay.lab.harness.scenario import scenario
from assay.lab.marketplace.declaring import BOTH
from assay.lab.marketplace.jrpc_lists import LISTS
from assay.lab.suite.listening import listen

A_LIST = either(declares("tools"), either(declares("prompts"), declares("resources")))


@scenario("Lists that are read twice", exercises=("jrpc.drift",), needs=(A_LIST,), transports=BOTH)
async def drive(stage: Stage) -> None:
    peer = await stage.open()
    # A change that is announced is no drift: so the announcement must have a way to us.
    await listen(stage, peer, *_announced(stage))
    await _read(stage, peer)
    for errand in errands(stage.facts):
        await errand.ask(peer)
    await _read(stage, peer)


def _announced(stage: Stage) -> list[str]:
    areas = dict.fromkeys(one.capability for one in LISTS)
    return [f"{area}ListChanged" for area in areas if stage.facts.declares(area, "listChanged")]


async def _read(stage: Stage, peer: Peer) -> None:
    for one in LISTS:
        if stage.facts.declares(one.capability):
            await peer.pages(one.method, one.key)
