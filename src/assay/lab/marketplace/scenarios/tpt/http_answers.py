"""Requests whose answers may come as one object or on a stream."""

from __future__ import annotations

from assay.lab.harness.driver.stage import Stage
from assay.lab.harness.scenario import scenario
from assay.lab.harness.transport import HTTP_ONLY
from assay.lab.marketplace.tpt_told import listen_to_logs, start_calls
from assay.lab.suite.streamed import STREAM_FIRST


@scenario("Answers over HTTP", exercises=("tpt.http-sse",), transports=HTTP_ONLY)
async def drive(stage: Stage) -> None:
    peer = await stage.open()
    await peer.request(stage.plain)
    await peer.request(stage.plain, headers=STREAM_FIRST)
    await listen_to_logs(stage, peer)
    for pending in await start_calls(stage, peer):
        await peer.answer(pending)
