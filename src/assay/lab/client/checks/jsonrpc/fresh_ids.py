"""An id is not used twice: within a session, or while its request is under way."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from assay.lab.client.evidence import FIRST, describes_itself, turned_away
from assay.lab.harness.check import check
from assay.lab.harness.frame import Kind
from assay.lab.harness.message import same_id
from assay.lab.harness.trace import Exchange, Trace
from assay.lab.harness.transport import Transport
from assay.lab.harness.verdict import Observation, observe

OLD, NEW = "BASE-04", "BASE-05"


@check("Ids are not used again", rows=(OLD, NEW), everywhere=True)
def judge(trace: Trace) -> Iterator[Observation]:
    asked = [one for one in trace.inquiries() if not turned_away(one)]
    for place, one in enumerate(asked):
        same = [before for before in asked[:place] if _same(before, one)]
        busy = [before for before in same if _is_under_way(trace, before, one)]
        yield _observed(NEW, one, busy, "an id that no request under way has")
        session = _session(trace, one)
        if session is not None:
            used = [before for before in same if _session(trace, before) == session]
            yield _observed(OLD, one, used, "an id that was not used in this session")


def _observed(row: str, one: Exchange, used: Sequence[Exchange], expected: str) -> Observation:
    return observe(row, not used, *used, one, expected=expected, observed=f"id {one.request.id!r} again")


def _same(one: Exchange, other: Exchange) -> bool:
    same = one.request.frame.connection == other.request.frame.connection
    return same and same_id(one.request.id, other.request.id)


def _session(trace: Trace, exchange: Exchange) -> tuple[str, int] | None:
    """Within what ids must differ: which handshake of which connection; none where that cannot be told."""
    frame = exchange.request.frame
    opened = [
        one.request.frame
        for one in trace.inquiries(FIRST)
        if one.request.frame.connection == frame.connection
    ]
    before = sum(one.n <= frame.n for one in opened)
    # Two conversations over HTTP may go on at once.
    mixed = trace.transport == Transport.HTTP and len(opened) > 1
    return None if mixed or not before or describes_itself(exchange.request) else (frame.connection, before)


def _is_under_way(trace: Trace, before: Exchange, one: Exchange) -> bool:
    """Whether the earlier request was neither answered, nor given up, nor broken off when the other came."""
    begin, end = before.request.frame, one.request.frame.n
    if before.answer is not None and before.answer.frame.n < end:
        return False
    cancelled = (
        message.frame.n < end
        and message.method == "notifications/cancelled"
        and same_id(message.params.get("requestId"), before.request.id)
        for message in trace.received
    )
    over = (
        frame.kind is Kind.END and frame.channel == begin.channel and begin.n < frame.n < end
        for frame in trace.frames
    )
    return not any(cancelled) and not any(over)
