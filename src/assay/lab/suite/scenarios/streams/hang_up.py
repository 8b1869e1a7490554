"""A stream that stays open until its client hangs up."""

from __future__ import annotations

from assay.lab.harness.driver.stage import Stage
from assay.lab.harness.scenario import scenario
from assay.lab.harness.transport import HTTP_ONLY
from assay.lab.suite.streamed import STREAM_FIRST


@scenario(
    "A request whose client hangs up",
    exercises=("streams.hang-up", "streams.answer-type"),
    transports=HTTP_ONLY,
    window=lambda revision: revision.http.disconnect_cancels,
)
async def drive(stage: Stage) -> None:
    peer = await stage.open()
    wish = {"notifications": {"toolsListChanged": True}, "_meta": {"progressToken": "left"}}
    pending = await peer.start("subscriptions/listen", wish)
    assert pending.sent is not None
    # A server that has nothing to tell refuses at once: then there is nothing to hang up on.
    if await pending.sent.begun(peer.patience):
        await peer.http.leave(pending.sent)
    for _ in range(2):
        await peer.request(stage.plain, headers=STREAM_FIRST)
