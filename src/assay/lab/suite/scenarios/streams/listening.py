"""The stream that belongs to no request, beside the streams of requests."""

from __future__ import annotations

from assay.lab.harness.driver.stage import Stage
from assay.lab.harness.scenario import scenario
from assay.lab.harness.transport import HTTP_ONLY
from assay.lab.suite.streamed import STREAM_FIRST


@scenario(
    "A stream for what belongs to no request",
    exercises=("streams.get-answer", "streams.one-stream", "streams.event-ids", "streams.related"),
    transports=HTTP_ONLY,
    window=lambda revision: revision.http.sessions,
)
async def drive(stage: Stage) -> None:
    peer = await stage.open()
    await peer.request("ping", {"_meta": {"progressToken": "before"}}, headers=STREAM_FIRST)
    await peer.taken(await peer.http.listen())
    asked = [
        await peer.start("ping", {"_meta": {"progressToken": name}}, headers=STREAM_FIRST)
        for name in ("one", "other")
    ]
    for pending in asked:
        await peer.answer(pending)
