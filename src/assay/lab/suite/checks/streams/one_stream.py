"""Each message comes once, and responses on the stream of their request."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.harness.check import check
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.transport import HTTP_ONLY
from assay.lab.harness.verdict import Observation, observe
from assay.lab.suite.streamed import places


@check("Each message comes on one stream", rows=("HTTP-30", "HTTP-31"), transports=HTTP_ONLY)
def judge(trace: Trace) -> Iterator[Observation]:
    for call in trace.calls:
        if call.sent.method == "GET" and call.is_stream and call.resumes is None:
            responses = [message for message in call.messages if message.is_response]
            yield observe(
                "HTTP-30",
                not responses,
                call,
                expected="no response on a stream that belongs to no request",
                observed=responses[0] if responses else "none",
            )
    for (_, kind, name), calls in places(trace).items():
        yield observe(
            "HTTP-31",
            len(calls) == 1,
            *calls,
            expected=f"the {kind} {name} on one stream",
            observed=f"on {', '.join(call.channel for call in calls)}",
        )
