"""An id is not used twice: within a session, or while its request is under way."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterator, Sequence

from assay.lab.client.evidence import FIRST, describes_itself, turned_away
from assay.lab.harness.check import check
from assay.lab.harness.trace.frame import Kind
from assay.lab.harness.trace.message import id_group, same_id
from assay.lab.harness.trace.trace import Exchange, Trace
from assay.lab.harness.transport import Transport
from assay.lab.harness.verdict import Observation, observe

OLD, NEW = "BASE-04", "BASE-05"


@check("Ids are not used again", rows=(OLD, NEW), everywhere=True)
def judge(trace: Trace) -> Iterator[Observation]:
    begun = _begun(trace)
    open_ones: dict[Hashable, list[Exchange]] = defaultdict(list)
    latest: dict[Hashable, Exchange] = {}
    for one in (asked for asked in trace.inquiries() if not turned_away(asked)):
        key = (one.request.frame.connection, id_group(one.request.id))
        busy = [before for before in open_ones[key] if _is_under_way(trace, before, one)]
        yield _observed(NEW, one, busy, "an id that no request under way has")
        open_ones[key] = [*busy, one]
        session = _session(trace, begun, one)
        if session is not None:
            used = [latest[session, key]] if (session, key) in latest else []
            yield _observed(OLD, one, used, "an id that was not used in this session")
            latest[session, key] = one


def _observed(row: str, one: Exchange, used: Sequence[Exchange], expected: str) -> Observation:
    same = [before for before in used if same_id(before.request.id, one.request.id)]
    return observe(row, not same, *same, one, expected=expected, observed=f"id {one.request.id!r} again")


def _begun(trace: Trace) -> dict[str, list[int]]:
    """The frames in which each connection begins a handshake."""
    begun: dict[str, list[int]] = defaultdict(list)
    for one in trace.inquiries(FIRST):
        begun[one.request.frame.connection].append(one.request.frame.n)
    return begun


def _session(trace: Trace, begun: dict[str, list[int]], exchange: Exchange) -> int | None:
    """Within what ids must differ: which handshake of its connection; none where that cannot be told."""
    frame = exchange.request.frame
    opened = begun[frame.connection]
    before = sum(n <= frame.n for n in opened)
    # Two conversations over HTTP may go on at once.
    mixed = trace.transport == Transport.HTTP and len(opened) > 1
    return None if mixed or not before or describes_itself(exchange.request) else before


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
