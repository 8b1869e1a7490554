"""The endpoint takes the methods that its revision gives it."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.harness.check import check
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.transport import HTTP_ONLY
from assay.lab.harness.verdict import Observation, observe

# Statuses that say "not here". A GET may be declined with 405, which is an answer of the endpoint.
NOT_HERE = {"POST": (405, 501), "GET": (404, 501)}


@check("The endpoint takes POST, and GET where it is known", rows=("HTTP-01",), transports=HTTP_ONLY)
def judge(trace: Trace) -> Iterator[Observation]:
    methods = ("POST", "GET") if trace.revision.http.sessions else ("POST",)
    for call in trace.calls:
        method = call.sent.method
        if method in methods and call.head is not None and call.sent.get("origin") is None:
            yield observe(
                "HTTP-01",
                call.status not in NOT_HERE[method],
                call,
                expected=f"one endpoint that takes {' and '.join(methods)}",
                observed=f"status {call.status} for {method}",
            )
