"""A session, or state that a server gave out, does not stand for a token."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.harness.check import check
from assay.lab.harness.subject.bearer import NONE
from assay.lab.harness.trace.admission import calls_with, in_query, is_let_in, is_public, told
from assay.lab.harness.trace.trace import Call, Trace
from assay.lab.harness.transport import HTTP_ONLY
from assay.lab.harness.verdict import Observation, observe


@check("Every request is verified", rows=("SEC-01", "SEC-02"), transports=HTTP_ONLY)
def judge(trace: Trace) -> Iterator[Observation]:
    for _, call in calls_with(trace, NONE):
        if is_public(call) or in_query(call):
            continue
        refused = not is_let_in(call)
        seen = f"{told(call)} without a token"
        yield observe("SEC-01", refused, call, expected="a refusal", observed=seen)
        if call.session is not None or brings_state(call):
            yield observe("SEC-02", refused, call, expected="a refusal", observed=seen)


def brings_state(call: Call) -> bool:
    return any("requestState" in message.params for message in call.asked)
