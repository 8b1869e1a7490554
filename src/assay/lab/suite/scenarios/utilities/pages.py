"""Every list, page by page and once more with the same cursors; and a cursor that nobody gave out."""

from __future__ import annotations

from assay.lab.harness.driver.peer import Peer
from assay.lab.harness.driver.stage import Stage
from assay.lab.harness.need import Need
from assay.lab.harness.scenario import scenario
from assay.lab.harness.subject.discovery import LISTS

MOST = 10
"""Pages of one list: a longer one shows the same."""
A_LIST = Need(
    lambda facts: any(capability in facts.capabilities for capability, *_ in LISTS), "has nothing to list"
)


@scenario("Lists in pages", exercises=("utilities.pages", "utilities.bad-cursor"), needs=(A_LIST,))
async def drive(stage: Stage) -> None:
    peer = await stage.open()
    for capability, method, *_ in LISTS:
        if capability in stage.facts.capabilities:
            async with peer.probe("bad cursor", method=method):
                await peer.request(method, {"cursor": "a cursor of the lab's own"})
            cursors = await _walk(peer, method)
            for cursor in (None, *cursors) if cursors else ():
                await peer.request(method, {"cursor": cursor} if cursor is not None else {})


async def _walk(peer: Peer, method: str) -> list[str]:
    """From the first page to the last, or round in a circle; the cursors on the way."""
    cursors: list[str] = []
    params: dict[str, str] = {}
    for _ in range(MOST):
        cursor = (await peer.request(method, params)).result.get("nextCursor")
        if not isinstance(cursor, str) or cursor in cursors:
            break
        cursors.append(cursor)
        params = {"cursor": cursor}
    return cursors
