"""The list of resources on two connections, one of which was used before."""

from __future__ import annotations

from typing import Any, Final

from assay.lab.harness.driver.choice import NOWHERE, uris_of
from assay.lab.harness.driver.peer import Peer
from assay.lab.harness.driver.stage import Stage
from assay.lab.harness.need import A_RESOURCE
from assay.lab.harness.scenario import scenario

ROUNDS: Final = 3
"""How often both lists are read when they differ: a list may change over time, but not in step with us."""


@scenario("Resources on two connections", exercises=("resources.same-for-all",), needs=(A_RESOURCE,))
async def drive(stage: Stage) -> None:
    one, other = await stage.open(), await stage.open()
    await _uris(one)
    for uri in (*uris_of(stage.facts)[:1], NOWHERE):
        await one.request("resources/read", {"uri": uri})
    for _ in range(ROUNDS):
        if await _uris(one) == await _uris(other):
            break


async def _uris(peer: Peer) -> set[Any]:
    items = await peer.pages("resources/list", "resources")
    return {str(item.get("uri")) for item in items if isinstance(item, dict)}
