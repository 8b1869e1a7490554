"""A stream can be closed early: it has begun with an id, says when to come back, and is gone on with."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.everything.declaring import official_check
from assay.lab.harness.trace.message import Message, same_id
from assay.lab.harness.trace.trace import Call, Trace
from assay.lab.harness.transport import HTTP_ONLY
from assay.lab.harness.verdict import Observation, observe

POSTED = "server-sse-post-request"
PRIMED, RETRY, RESUMED = "server-sse-priming-event", "server-sse-retry-field", "server-sse-disconnect-resume"
EMPTY = (b"", b"{}")


@official_check(
    "server-sse-polling",
    "A stream is closed early and gone on with",
    rows=(POSTED, PRIMED, RETRY, RESUMED),
    transports=HTTP_ONLY,
)
def judge(trace: Trace) -> Iterator[Observation]:
    for call in trace.calls:
        asked = [one for one in call.asked if one.method == "tools/call"]
        if call.head is None or not asked:
            continue
        served = 200 <= call.status < 300
        yield observe(POSTED, served, call, expected="the call accepted", observed=f"status {call.status}")
        if call.is_stream:
            yield from _opened(call)
            yield from _resumed(call, asked[0], trace)


def _opened(call: Call) -> Iterator[Observation]:
    events = [event for _, event in call.events]
    primed = bool(events) and bool(events[0].event_id) and events[0].data in EMPTY
    first = f"{events[0].event_id!r}, {events[0].data[:60]!r}" if events else "no event"
    yield observe(PRIMED, primed, call, expected="a first event with an id and no data", observed=first)
    told = any(line.startswith(b"retry:") for line in call.body.splitlines())
    yield observe(RETRY, told, call, expected="a `retry` field on the stream", observed="none")


def _resumed(call: Call, asked: Message, trace: Trace) -> Iterator[Observation]:
    """Only a stream that ended before the answer can be gone on with."""
    if _answer(call, asked) is not None:
        return
    polls = [one for one in trace.calls if one.resumes is not None and _follows(one, call)]
    if not polls or polls[-1].status == 405:
        return
    answer = next((found for one in polls if (found := _answer(one, asked)) is not None), None)
    holds = answer is not None and "result" in answer.fields and not answer.result.get("isError")
    expected = "the result of the call, on the stream that goes on after the last event"
    yield observe(RESUMED, holds, call, *polls, expected=expected, observed=answer or "no answer")


def _follows(poll: Call, call: Call) -> bool:
    return poll.request.connection == call.request.connection and poll.request.n > call.request.n


def _answer(call: Call, asked: Message) -> Message | None:
    return next((one for one in call.messages if one.is_response and same_id(one.id, asked.id)), None)
