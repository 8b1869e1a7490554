"""A session opens, is served, can be ended, and is gone then."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.everything.declaring import official_check
from assay.lab.harness.trace.trace import Call, Trace
from assay.lab.harness.transport import HTTP_ONLY
from assay.lab.harness.verdict import Observation, observe

OPENED, INITIALIZED = "server-session-lifecycle-error", "server-session-initialized-accepted"
DELETED, GONE = "server-session-delete-accepted", "server-session-terminated-returns-404"


@official_check(
    "server-session-lifecycle",
    "A session that its client ends",
    rows=(OPENED, INITIALIZED, DELETED, GONE),
    transports=HTTP_ONLY,
)
def judge(trace: Trace) -> Iterator[Observation]:
    answered = [call for call in trace.calls if call.head is not None]
    for call in answered:
        for row, method in ((OPENED, "initialize"), (INITIALIZED, "notifications/initialized")):
            if any(message.method == method for message in call.asked):
                observed = f"status {call.status}"
                yield observe(row, _accepted(call), call, expected=f"{method} accepted", observed=observed)
    for end in answered:
        if end.sent.method == "DELETE" and end.session is not None:
            yield from _ended(end, [call for call in answered if call.session == end.session])


def _ended(end: Call, calls: list[Call]) -> Iterator[Observation]:
    before = [call for call in calls if _asks(call) and call.request.n < end.request.n and _accepted(call)]
    after = [call for call in calls if _asks(call) and call.request.n > end.request.n]
    # Who does not let clients end sessions says 405, and that is all there is to see.
    if end.status == 405 or not before or not after:
        return
    gone = after[0].status == 404
    # 404 for the DELETE is well only where it is true of the session.
    accepted = _accepted(end) or (end.status == 404 and gone)
    observed = f"status {end.status} for DELETE, then {after[0].status}"
    yield observe(DELETED, accepted, end, expected="DELETE accepted, or refused with 405", observed=observed)
    if accepted:
        expected = "status 404 for the session that was served before and then ended"
        yield observe(GONE, gone, before[-1], end, after[0], expected=expected, observed=observed)


def _asks(call: Call) -> bool:
    return any(message.method == "ping" for message in call.asked)


def _accepted(call: Call) -> bool:
    return 200 <= call.status < 300
