"""Requests at the same time are all served, each on its own stream and with nothing of the others on it."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.everything.declaring import official_check
from assay.lab.harness.trace.message import same_id
from assay.lab.harness.trace.trace import Call, Trace
from assay.lab.harness.transport import HTTP_ONLY
from assay.lab.harness.verdict import Observation, observe
from assay.lab.suite.streamed import requests

ACCEPTED, FUNCTIONAL = "server-accepts-multiple-post-streams", "server-sse-streams-functional"


@official_check(
    "server-sse-multiple-streams",
    "Three requests at once are all served",
    rows=(ACCEPTED, FUNCTIONAL),
    transports=HTTP_ONLY,
)
def judge(trace: Trace) -> Iterator[Observation]:
    calls = [call for call in trace.calls if any(one.method == "tools/list" for one in requests(call))]
    if len(calls) < 2 or any(call.head is None for call in calls):
        return
    statuses = ", ".join(str(call.status) for call in calls)
    accepted = all(200 <= call.status < 300 for call in calls)
    expected = f"{len(calls)} requests at once, all served"
    yield observe(ACCEPTED, accepted, *calls, expected=expected, observed=f"statuses {statuses}")
    for call in calls:
        if call.is_stream:
            expected = "the answer to its own request, once, and to no other"
            yield observe(FUNCTIONAL, _is_sound(call), call, expected=expected, observed=_told(call))


def _is_sound(call: Call) -> bool:
    answers = [message for message in call.messages if message.is_response]
    own = [one for one in answers if any(same_id(one.id, asked.id) for asked in requests(call))]
    return len(answers) == len(own) == 1 and "result" in own[0].fields


def _told(call: Call) -> str:
    told = [f"{message} with id {message.id!r}" for message in call.messages if message.is_response]
    return ", ".join(told) or "no answer on the stream"
