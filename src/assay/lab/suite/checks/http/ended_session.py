"""A session that was ended is gone: requests that name it get 404."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.harness.check import check
from assay.lab.harness.trace import Trace
from assay.lab.harness.transport import HTTP_ONLY
from assay.lab.harness.verdict import Observation, observe

SESSION = "mcp-session-id"


@check("A request of an ended session gets 404", rows=("HTTP-41",), transports=HTTP_ONLY)
def judge(trace: Trace) -> Iterator[Observation]:
    ended: set[str | None] = set()
    for call in trace.calls:
        session = call.sent.get(SESSION)
        if session in ended and call.head is not None:
            yield observe(
                "HTTP-41",
                call.status == 404,
                call,
                expected="status 404 for the session that DELETE ended",
                observed=f"status {call.status}",
            )
        elif call.sent.method == "DELETE" and session is not None and 200 <= call.status < 300:
            ended.add(session)
