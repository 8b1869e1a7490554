"""Two streams, each gone on with after its first event."""

from __future__ import annotations

from assay.lab.harness.driver.stage import Stage
from assay.lab.harness.scenario import scenario
from assay.lab.harness.transport import HTTP_ONLY
from assay.lab.suite.streamed import STREAM_FIRST


@scenario(
    "Streams that are gone on with",
    exercises=("streams.resumption", "streams.event-ids", "streams.answer-type"),
    transports=HTTP_ONLY,
    window=lambda revision: revision.http.sessions and revision.http.resumable,
)
async def drive(stage: Stage) -> None:
    peer = await stage.open()
    asked = [await peer.start("ping", headers=STREAM_FIRST) for _ in range(2)]
    for pending in asked:
        await peer.answer(pending)
    for pending in asked:
        ids = pending.sent.event_ids if pending.sent is not None else []
        if ids:
            await peer.taken(await peer.http.listen(after=ids[0]))
            await peer.sentinel()
