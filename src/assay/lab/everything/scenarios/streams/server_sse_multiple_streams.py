"""Three requests at once, each with a response of its own."""

from __future__ import annotations

from assay.lab.everything.declaring import official_scenario
from assay.lab.harness.driver.stage import Stage
from assay.lab.harness.need import declares
from assay.lab.harness.transport import HTTP_ONLY
from assay.lab.suite.streamed import STREAM_FIRST

IDS = (1000, 1001, 1002)


@official_scenario(
    "server-sse-multiple-streams",
    "Three requests at once",
    needs=(declares("tools"),),
    transports=HTTP_ONLY,
    aliases=("sse-multiple-streams",),
)
async def drive(stage: Stage) -> None:
    peer = await stage.open()
    asked = [await peer.start("tools/list", {}, request_id=number, headers=STREAM_FIRST) for number in IDS]
    for pending in asked:
        await peer.answer(pending)
