"""A client that leaves ends its session."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.client.evidence import endpoint_calls, is_over
from assay.lab.harness.check import check
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.transport import HTTP_ONLY
from assay.lab.harness.verdict import Observation, observe

from .session_named import issued


@check("A session is ended by its client", rows=("HTTP-43",), transports=HTTP_ONLY)
def judge(trace: Trace) -> Iterator[Observation]:
    for session, since in list(issued(trace))[-1:]:
        ended = [one for one in endpoint_calls(trace, "DELETE") if one.session == session]
        if ended or is_over(trace):
            given = [one for one in endpoint_calls(trace) if since in {frame.n for frame in one.received}]
            expected = f"DELETE for session {session}"
            yield observe("HTTP-43", bool(ended), *given, *ended, expected=expected, observed="no DELETE")
