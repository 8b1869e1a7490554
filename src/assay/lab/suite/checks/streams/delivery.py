"""A stream that answers a request brings the response, and ends with it."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.harness.check import check
from assay.lab.harness.trace.message import same_id
from assay.lab.harness.trace.trace import Call, Trace
from assay.lab.harness.transport import HTTP_ONLY
from assay.lab.harness.verdict import Observation, observe
from assay.lab.suite.streamed import requests

RESPONSE = "the response to each request that was posted"


@check(
    "A stream brings the response and ends with it",
    rows=("HTTP-14", "HTTP-16", "HTTP-17", "HTTP-25"),
    transports=HTTP_ONLY,
)
def judge(trace: Trace) -> Iterator[Observation]:
    cancelled = [one.params.get("requestId") for one in trace.messages if one.method.endswith("/cancelled")]
    for call in trace.calls:
        asked = requests(call)
        if not call.is_stream or not asked or any(one.id in cancelled for one in asked):
            continue
        answered = all(any(same_id(one.id, reply.id) for reply in call.messages) for one in asked)
        if answered:
            yield from _complete(call, trace)
        elif call.is_over:
            yield from _broken_off(call)


def _complete(call: Call, trace: Trace) -> Iterator[Observation]:
    for row in ("HTTP-14", "HTTP-16"):
        yield observe(row, True, call, expected=RESPONSE, observed="it came")
    if call.is_over or call.channel in trace.left_open:
        observed = "it ended" if call.is_over else "it stayed open"
        yield observe("HTTP-17", call.is_over, call, expected="the end of the stream", observed=observed)


def _broken_off(call: Call) -> Iterator[Observation]:
    observed = "the stream ended before it"
    yield observe("HTTP-16", False, call, expected=RESPONSE, observed=observed)
    # With an id at hand the client may come back for the rest.
    if all(event.event_id is None for _, event in call.events):
        yield observe("HTTP-14", False, call, expected=RESPONSE, observed=observed)
    retried = any(line.startswith(b"retry:") for line in call.body.splitlines())
    yield observe("HTTP-25", retried, call, expected="a `retry` field before the end", observed=observed)
