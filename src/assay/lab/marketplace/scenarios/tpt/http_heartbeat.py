"""A stream on which nothing happens for a while."""

from __future__ import annotations

from assay.lab.harness.driver.stage import Stage
from assay.lab.harness.scenario import scenario
from assay.lab.harness.transport import HTTP_ONLY
from assay.lab.marketplace.tpt_idle import SILENT, idle_stream

LONGEST = 30.0
"""Seconds between two comments, at most."""
TIMES = 3
"""How much longer than for an answer the driver waits here, within that."""


@scenario("A stream on which nothing happens", exercises=("tpt.http-heartbeat",), transports=HTTP_ONLY)
async def drive(stage: Stage) -> None:
    peer = await stage.open()
    sent = await idle_stream(stage, peer)
    if sent is None:
        return
    head = await peer.taken(sent)
    if head is not None and not sent.may_stream:
        return
    patience = min(LONGEST, TIMES * stage.patience)
    if not await sent.commented(patience) and sent.may_stream and not sent.is_finished:
        peer.mark(SILENT, stream=sent.channel, waited=patience)
    await peer.http.leave(sent)
