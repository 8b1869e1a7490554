"""Headers that agree with the body are let in; those that do not are refused for that reason."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.everything.declaring import official_check
from assay.lab.everything.task_opening import judge_opening
from assay.lab.harness.driver.mirrored_header import as_header
from assay.lab.harness.trace.trace import Call, Trace
from assay.lab.harness.transport import HTTP_ONLY
from assay.lab.harness.verdict import Observation, observe
from assay.model.error import HEADER_MISMATCH

OPENING = "tasks-headers-bootstrap"
METHOD_TAKEN = "tasks-headers-tolerate-mcp-method-on-tools-call"
METHOD_REFUSED = "tasks-headers-reject-mismatched-method"
NAME_TAKEN = "sep-2663-routing-headers-accepted-on-tasks-get"
NAME_REFUSED = "sep-2663-server-rejects-mismatched-mcp-name-on-tasks-get"
# Method → where it is seen to be let in, and where to be refused.
ROWS = {"tools/call": (METHOD_TAKEN, METHOD_REFUSED), "tasks/get": (NAME_TAKEN, NAME_REFUSED)}


@official_check(
    "tasks-request-headers",
    "The routing headers of requests about tasks",
    rows=(OPENING, METHOD_TAKEN, METHOD_REFUSED, NAME_TAKEN, NAME_REFUSED),
    transports=HTTP_ONLY,
)
def judge(trace: Trace) -> Iterator[Observation]:
    yield from judge_opening(OPENING, trace)
    for method, (taken, refused) in ROWS.items():
        calls = [call for call in trace.calls if _asks(call, method) and call.status]
        let_in = [call for call in calls if _agrees(call) and _is_result(call)]
        for call in calls:
            if _agrees(call):
                expected = "a result: the headers say what the body says"
                yield observe(taken, _is_result(call), call, expected=expected, observed=_told(call))
            elif let_in:
                expected = f"error {HEADER_MISMATCH}: a header does not say what the body says"
                yield observe(
                    refused,
                    call.code == HEADER_MISMATCH,
                    let_in[0],
                    call,
                    expected=expected,
                    observed=_told(call),
                )


def _asks(call: Call, method: str) -> bool:
    return [one.method for one in call.asked] == [method]


def _agrees(call: Call) -> bool:
    (asked,) = call.asked
    name = asked.params.get("taskId", asked.params.get("name"))
    said = (call.sent.get("mcp-method"), call.sent.get("mcp-name"))
    return said == (asked.method, as_header(str(name)))


def _is_result(call: Call) -> bool:
    return any("result" in one.fields for one in call.messages)


def _told(call: Call) -> str:
    return f"{call.messages[-1] if call.messages else 'no message'}, HTTP {call.status}"
