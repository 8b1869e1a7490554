"""A call that answers a question brings back the state as it was, under an id of its own."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.client.evidence import calls_of
from assay.lab.client.fixtures.retried_tools import (
    ECHO,
    GIVEN,
    NO_STATE,
    STATE_KEY,
    UNRELATED,
    UNTYPED,
    Round,
    rounds,
)
from assay.lab.client.owed import with_owed
from assay.lab.everything.declaring import official_check
from assay.lab.harness.trace.message import same_id
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation, observe

ECHOED = "sep-2322-client-request-state-echoed"
NEW_ID = "sep-2322-client-jsonrpc-id-different"
OMITTED = "sep-2322-client-no-state-omitted"
ISOLATED = "sep-2322-client-parallel-isolation"
COMPLETE = "sep-2322-default-result-type-complete"
OWED = {
    ECHOED: f"a second call of {ECHO}, with the answer",
    NEW_ID: f"a second call of {ECHO}, with the answer",
    OMITTED: f"a second call of {NO_STATE}, with the answer",
    ISOLATED: f"a call of {UNRELATED}",
    COMPLETE: f"a call of {UNTYPED}",
}


@official_check(
    "sep-2322-client-request-state",
    "Questions in results are answered as they should be",
    rows=tuple(OWED),
)
def judge(trace: Trace) -> Iterator[Observation]:
    yield from with_owed(trace, _seen(trace), OWED)


def _seen(trace: Trace) -> Iterator[Observation]:
    for one in rounds(trace, ECHO):
        yield from _answered(one)
    for one in rounds(trace, NO_STATE):
        bare = STATE_KEY not in one.retry.params
        told = f"{STATE_KEY} {one.retry.params.get(STATE_KEY)!r}"
        yield observe(OMITTED, bare, one.question, one.retry, expected=f"no {STATE_KEY}", observed=told)
    for call in (*calls_of(trace, UNRELATED), *trace.inquiries("tools/list")):
        strays = [key for key in (GIVEN, STATE_KEY) if key in call.params]
        if strays or call.method == "tools/call":
            expected = "nothing that belongs to another call"
            yield observe(ISOLATED, not strays, call, expected=expected, observed=", ".join(strays))
    for call in calls_of(trace, UNTYPED):
        told = f"another call, with {GIVEN}"
        yield observe(COMPLETE, GIVEN not in call.params, call, expected="no other call", observed=told)


def _answered(one: Round) -> Iterator[Observation]:
    sent, back = (one.question.result or {}).get(STATE_KEY), one.retry.params.get(STATE_KEY)
    yield observe(
        ECHOED, back == sent, one.question, one.retry, expected=f"{STATE_KEY} {sent!r}", observed=repr(back)
    )
    first, second = one.question.request.id, one.retry.request.id
    yield observe(
        NEW_ID,
        not same_id(first, second),
        one.question,
        one.retry,
        expected="another id",
        observed=f"id {second!r} again",
    )
