"""Work that is cancelled, and the same work again: how long it takes shows whether the first was stopped."""

from __future__ import annotations

from assay.lab.harness.errand import AN_ERRAND, errands
from assay.lab.harness.http_link import HttpLink
from assay.lab.harness.peer import Peer, Pending
from assay.lab.harness.scenario import scenario
from assay.lab.harness.stage import Stage


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
        kept: list[Pending] = []
        for number, errand in enumerate(errands(stage.facts)):
            cancelled = await errand.start(peer, {"progressToken": number})
            await _cancel(peer, cancelled, number)
            kept.append(await errand.start(peer))
            await peer.sentinel()
        for pending in kept:
            await peer.answer(pending)


async def _cancel(peer: Peer, pending: Pending, token: int) -> None:
    if isinstance(peer.link, HttpLink):
        # Two HTTP requests may overtake each other: only progress shows that the first has arrived.
        await peer.hear("notifications/progress", during=pending, progressToken=token)
        if peer.revision.http.disconnect_cancels and pending.sent is not None:
            return await peer.link.leave(pending.sent)
    await peer.notify("notifications/cancelled", {"requestId": pending.id, "reason": "not needed"})
