"""Requests that are sent again where streams are not returned to."""

from __future__ import annotations

from assay.lab.harness.driver.stage import Stage
from assay.lab.harness.scenario import scenario
from assay.lab.harness.transport import HTTP_ONLY
from assay.lab.suite.streamed import STREAM_FIRST


@scenario(
    "Requests that are sent again",
    exercises=("tpt.http-reissue",),
    transports=HTTP_ONLY,
    window=lambda revision: not revision.http.resumable,
)
async def drive(stage: Stage) -> None:
    peer = await stage.open()
    async with peer.probe("with an event id"):
        await peer.request(stage.plain, headers={**STREAM_FIRST, "Last-Event-ID": "stream-1-7"})
    lost = await peer.start(stage.plain, headers=STREAM_FIRST)
    assert lost.sent is not None
    await peer.http.leave(lost.sent)
    async with peer.probe("sent again"):
        await peer.request(stage.plain, headers=STREAM_FIRST)
