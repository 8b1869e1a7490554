"""Streams that have ended, and are returned to after their first event."""

from __future__ import annotations

from assay.lab.harness.driver.stage import Stage
from assay.lab.harness.scenario import scenario
from assay.lab.harness.transport import HTTP_ONLY
from assay.lab.marketplace.tpt_told import listen_to_logs, start_calls
from assay.lab.suite.streamed import STREAM_FIRST


@scenario(
    "Streams that are returned to",
    exercises=("tpt.http-resume",),
    transports=HTTP_ONLY,
    window=lambda revision: revision.http.sessions and revision.http.resumable,
)
async def drive(stage: Stage) -> None:
    peer = await stage.open()
    await listen_to_logs(stage, peer)
    asked = [await peer.start("ping", headers=STREAM_FIRST), *await start_calls(stage, peer)]
    for pending in asked:
        await peer.answer(pending)
    for pending in asked:
        ids = pending.sent.event_ids if pending.sent is not None else []
        if ids:
            await peer.taken(await peer.http.listen(after=ids[0]))
            await peer.sentinel()
