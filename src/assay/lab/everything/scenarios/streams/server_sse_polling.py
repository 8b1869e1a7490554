"""A tool that closes its stream while it works: the driver comes back for the answer."""

from __future__ import annotations

from assay.lab.everything.declaring import official_scenario
from assay.lab.everything.fixture import fixture_tool
from assay.lab.harness.driver.peer import Peer, Pending
from assay.lab.harness.driver.stage import Stage
from assay.lab.harness.transport import HTTP_ONLY
from assay.lab.suite.streamed import STREAM_FIRST

TOOL = "test_reconnection"
POLLS = 5
"""A server may let its client come back more than once."""


@official_scenario(
    "server-sse-polling",
    "A stream is closed early and gone on with",
    needs=(fixture_tool(TOOL),),
    transports=HTTP_ONLY,
    aliases=("sse-polling",),
)
async def drive(stage: Stage) -> None:
    peer = await stage.open()
    params = {"name": TOOL, "arguments": {}}
    pending = await peer.start("tools/call", params, headers=STREAM_FIRST)
    reply = await peer.answer(pending)
    for _ in range(POLLS):
        after = _last_event(pending)
        if reply.message is not None or after is None:
            break
        pending = await _resumed(peer, pending, after)
        reply = await peer.answer(pending)


def _last_event(pending: Pending) -> str | None:
    ids = pending.sent.event_ids if pending.sent is not None else []
    return ids[-1] if ids else None


async def _resumed(peer: Peer, pending: Pending, after: str) -> Pending:
    """The same request, waited for on a stream that goes on after an event."""
    again = peer.expect(pending.method, pending.id)
    again.sent = await peer.http.listen(after=after)
    return again
