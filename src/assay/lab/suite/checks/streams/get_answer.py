"""GET opens an event stream, or is declined."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.harness.check import check
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.transport import HTTP_ONLY
from assay.lab.harness.verdict import Observation, observe


@check("GET is answered with an event stream or 405", rows=("HTTP-28",), transports=HTTP_ONLY)
def judge(trace: Trace) -> Iterator[Observation]:
    seen: set[str] = set()
    for call in trace.calls:
        connection = call.request.connection
        # A second stream beside the first is more than everyone offers.
        if call.sent.method != "GET" or call.resumes is not None or call.head is None or connection in seen:
            continue
        seen.add(connection)
        yield observe(
            "HTTP-28",
            call.is_stream or call.status == 405,
            call,
            expected="text/event-stream, or status 405",
            observed=f"status {call.status}, content-type {call.head.media_type or 'missing'}",
        )
