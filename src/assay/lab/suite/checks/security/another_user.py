"""What a server keeps for one user is nobody else's, even for those who know its id."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.harness.check import check
from assay.lab.harness.subject.bearer import BEARER, OTHER
from assay.lab.harness.trace.admission import calls_with, is_let_in, told
from assay.lab.harness.trace.trace import Call, Trace
from assay.lab.harness.transport import HTTP_ONLY
from assay.lab.harness.verdict import Observation, observe

COMPLETE = "complete"


@check("A session or state of another user is refused", rows=("SEC-04",), transports=HTTP_ONLY)
def judge(trace: Trace) -> Iterator[Observation]:
    marked = {mark.connection for mark in trace.marks(BEARER)}
    owners = [call for call in trace.calls if call.request.connection not in marked]
    sessions = {call.session for call in owners} - {None}
    states = {state for call in owners for state in given_out(call)}
    for _, call in calls_with(trace, OTHER):
        if call.session in sessions or brought(call) & states:
            refused = not (is_let_in(call) and is_served(call))
            seen = f"{told(call)} for another user"
            yield observe("SEC-04", refused, call, expected="a refusal", observed=seen)


def given_out(call: Call) -> set[str]:
    found = (message.result.get("requestState") for message in call.messages)
    return {state for state in found if isinstance(state, str)}


def brought(call: Call) -> set[str]:
    found = (message.params.get("requestState") for message in call.asked)
    return {state for state in found if isinstance(state, str)}


def is_served(call: Call) -> bool:
    """Whether state was taken as the user's own; who asks everything again has not."""
    return not brought(call) or any(one.result.get("resultType") == COMPLETE for one in call.messages)
