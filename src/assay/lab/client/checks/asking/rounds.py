"""Results that ask, and the requests with the answers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from assay.lab.client.questions import Round, rounds
from assay.lab.harness.check import check
from assay.lab.harness.trace.message import same_id
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation, observe

ALL, ECHOED, NO_STATE, NEW_ID, APART = "MR-13", "MR-15", "MR-17", "MR-18", "MR-19"
STATE = "requestState"


@check("A request is sent again as it should", rows=(ALL, ECHOED, NO_STATE, NEW_ID, APART), everywhere=True)
def judge(trace: Trace) -> Iterator[Observation]:
    found = list(rounds(trace))
    states = [_state(one) for one in found]
    for one in found:
        if one.retry is not None:
            yield from _answered(one, states)


def _answered(one: Round, states: list[Any]) -> Iterator[Observation]:
    assert one.retry is not None
    missing = sorted(one.questions.keys() - one.answers.keys())
    yield observe(ALL, not missing, one, expected="an answer to each question", observed=f"none to {missing}")
    fresh = not same_id(one.first.request.id, one.retry.request.id)
    yield observe(NEW_ID, fresh, one, expected="another id", observed=f"id {one.retry.request.id!r} again")
    given, wanted = one.retry.params.get(STATE), _state(one)
    if wanted is None:
        yield observe(NO_STATE, given is None, one, expected=f"no `{STATE}`", observed=f"{given!r}")
    else:
        yield observe(ECHOED, given == wanted, one, expected=f"{STATE} {wanted!r}", observed=f"{given!r}")
    others = [state for state in states if state is not None and state != wanted]
    if others:
        mixed = given in others
        yield observe(APART, not mixed, one, expected="nothing of another request", observed=f"{given!r}")


def _state(one: Round) -> Any:
    return (one.first.result or {}).get(STATE)
