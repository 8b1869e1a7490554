"""A server of the first transport is reached by its stream, and by the address that it tells there."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.client.evidence import endpoint_calls, is_over
from assay.lab.harness.check import check
from assay.lab.harness.http_text import EVENT_STREAM
from assay.lab.harness.trace import Call, Trace
from assay.lab.harness.transport import HTTP_ONLY
from assay.lab.harness.verdict import Observation, observe

MESSAGES = "/messages"
"""Where the old server takes messages."""
TOLD = b"event: endpoint"


@check("An old server is reached by its stream", rows=("SSE-03", "SSE-06"), transports=HTTP_ONLY)
def judge(trace: Trace) -> Iterator[Observation]:
    refused = [one for one in endpoint_calls(trace, "POST") if 400 <= one.status < 500][:1]
    opened = [
        one for one in endpoint_calls(trace, "GET") if one.sent.get("accept") and _is_after(one, refused)
    ]
    if refused and (opened or is_over(trace)):
        expected, observed = f"a GET for {EVENT_STREAM}", "none"
        yield observe("SSE-06", bool(opened), *refused, *opened[:1], expected=expected, observed=observed)
    told = next((one.n for one in trace.frames if one.raw.startswith(TOLD)), len(trace.frames))
    for call in trace.calls:
        if call.sent.method == "POST" and call.request.n > told:
            right = call.sent.target.endswith(MESSAGES)
            observed = call.sent.target
            yield observe("SSE-03", right, call, expected=f"POST {MESSAGES}", observed=observed)


def _is_after(call: Call, refused: list[Call]) -> bool:
    return bool(refused) and call.request.n > refused[0].request.n
