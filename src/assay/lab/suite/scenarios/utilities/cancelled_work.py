"""Work that is cancelled, and the same work again: how long it takes shows whether the first was stopped."""

from __future__ import annotations

from assay.lab.harness.driver.peer import Peer, Pending
from assay.lab.harness.driver.safe_request import AN_ERRAND, SafeRequest, errands
from assay.lab.harness.driver.stage import Stage
from assay.lab.harness.links.http import HttpLink
from assay.lab.harness.scenario import scenario
from assay.lab.harness.trace.message import Message

ATTEMPTS = 5
"""To cancel work in time that reports progress, so that there is time."""


@scenario(
    "Work that is cancelled",
    exercises=(
        "utilities.cancelled-request",
        "utilities.own-cancellation",
        "utilities.late-cancellation",
    ),
    needs=(AN_ERRAND,),
)
async def drive(stage: Stage) -> None:
    peer = await stage.open()
    async with peer.probe("cancellation"):
        kept = [again for errand in errands(stage.facts) for again in await _cancelled(peer, errand)]
        for pending in kept:
            await peer.answer(pending)


async def _cancelled(peer: Peer, errand: SafeRequest) -> list[Pending]:
    """Begin and cancel until it was in time, or turns out too fast for that; the same work, not cancelled."""
    kept: list[Pending] = []
    for _ in range(ATTEMPTS):
        token = f"token of {peer.next_id()}"
        work = await errand.start(peer, {"progressToken": token})
        # Two HTTP requests may overtake each other: only progress shows that the first has arrived.
        report = await _report(peer, work, token) if isinstance(peer.link, HttpLink) else None
        await _cancel(peer, work)
        kept.append(await errand.start(peer))
        await peer.sentinel()
        if not work.future.done() or (report or await _report(peer, work, token)) is None:
            break
    return kept


async def _report(peer: Peer, work: Pending, token: str) -> Message | None:
    return await peer.hear("notifications/progress", during=work, progressToken=token)


async def _cancel(peer: Peer, work: Pending) -> None:
    if isinstance(peer.link, HttpLink) and peer.revision.http.disconnect_cancels and work.sent is not None:
        await peer.link.leave(work.sent)
    else:
        await peer.notify("notifications/cancelled", {"requestId": work.id, "reason": "not needed"})
