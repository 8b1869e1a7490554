"""`requestState` belongs to requests that are sent again, and not to tasks."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.everything.declaring import official_check
from assay.lab.everything.task_opening import judge_opening
from assay.lab.everything.task_story import calls, stories
from assay.lab.harness.trace.trace import Exchange, Trace
from assay.lab.harness.verdict import Observation, observe

OPENING = "tasks-request-state-bootstrap"
MADE = "tasks-request-state-removal-setup"
CREATED = "tasks-create-result-no-request-state"
SEEN = "tasks-get-detailed-no-request-state"


@official_check("tasks-request-state-removal", "No request state", rows=(OPENING, MADE, CREATED, SEEN))
def judge(trace: Trace) -> Iterator[Observation]:
    yield from judge_opening(OPENING, trace)
    for exchange in calls(trace, "slow_compute"):
        made = (exchange.result or {}).get("resultType") == "task"
        yield observe(MADE, made, exchange, expected="a task", observed=exchange)
        if made:
            yield _judge_state(CREATED, exchange)
    for story in stories(trace, "slow_compute"):
        yield from (_judge_state(SEEN, one) for one in story.gets if one.result is not None)


def _judge_state(row: str, exchange: Exchange) -> Observation:
    state = "requestState" in (exchange.result or {})
    return observe(row, not state, exchange, expected="no `requestState`", observed=exchange)
