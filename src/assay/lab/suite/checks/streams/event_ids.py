"""An event id names one event of a session, whichever stream it came on."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.harness.check import check
from assay.lab.harness.trace.trace import Call, Trace
from assay.lab.harness.transport import HTTP_ONLY
from assay.lab.harness.verdict import Observation, observe

Seen = tuple[Call, bytes]


@check("Event ids are unique in a session", rows=("HTTP-32",), transports=HTTP_ONLY)
def judge(trace: Trace) -> Iterator[Observation]:
    found: dict[tuple[str, str], list[Seen]] = {}
    for call in trace.calls:
        for _, event in call.events:
            if event.event_id:
                found.setdefault((call.request.connection, event.event_id), []).append((call, event.data))
    for (_, name), seen in found.items():
        others = [one for one in seen[1:] if not may_share(seen[0], one)]
        yield observe(
            "HTTP-32",
            not others,
            seen[0][0],
            *(call for call, _ in others),
            expected=f"one event with id {name}",
            observed=f"{1 + len(others)} of them",
        )


def may_share(one: Seen, other: Seen) -> bool:
    """Whether two events with one id can be the same event, or mark the same place in a stream."""
    (first, before), (second, after) = one, other
    again = {first.sent.method, second.sent.method} == {"GET"} or second.resumes is not None
    return again and (before == after or not before or not after)
