"""Durations are whole milliseconds under their new names; a task lives as long as it says."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from assay.lab.everything.declaring import official_check
from assay.lab.everything.faults import judged, result_faults
from assay.lab.everything.task_opening import judge_opening
from assay.lab.everything.task_shape import ENDS, duration_faults
from assay.lab.everything.task_story import Story, calls, stories
from assay.lab.harness.trace.trace import Exchange, Trace
from assay.lab.harness.verdict import Observation

OPENING = "tasks-wire-fields-bootstrap"
NAMES = "tasks-wire-field-renames"
ALIVE = "tasks-no-early-ttl-expiry"
UNRELATED = "tasks-no-related-task-meta-on-inlined-result"
RELATED_KEY = "io.modelcontextprotocol/related-task"


@official_check("tasks-wire-fields", "The fields of a task", rows=(OPENING, NAMES, ALIVE, UNRELATED))
def judge(trace: Trace) -> Iterator[Observation]:
    yield from judge_opening(OPENING, trace)
    for exchange in calls(trace, "slow_compute"):
        yield _judge_names(exchange)
    for story in stories(trace, "slow_compute"):
        for exchange in story.gets:
            if exchange.result is not None:
                yield _judge_names(exchange)
                yield from _judge_relation(exchange, exchange.result)
        yield from _judge_life(story)


def _judge_names(exchange: Exchange) -> Observation:
    expected = "ttlMs and pollIntervalMs in whole milliseconds, and no ttl or pollInterval"
    return judged(NAMES, result_faults(exchange, duration_faults), exchange, expected=expected)


def _judge_relation(exchange: Exchange, task: dict[str, Any]) -> Iterator[Observation]:
    result = task.get("result")
    if isinstance(result, dict):
        meta = result.get("_meta")
        faults = [f"_meta[{RELATED_KEY!r}]"] if isinstance(meta, dict) and RELATED_KEY in meta else []
        yield judged(UNRELATED, faults, exchange, expected=f"a result without {RELATED_KEY}")


def _judge_life(story: Story) -> Iterator[Observation]:
    """A task that has ended can be read again while its time to live lasts."""
    created = story.call.request.frame.t
    ended: dict[str, Any] | None = None
    for exchange in story.gets:
        if ended is not None and exchange.answer is not None and _lives(ended, exchange, created):
            seen = exchange.result or {}
            holds = seen.get("taskId") == ended.get("taskId") and seen.get("status") == ended.get("status")
            faults = [] if holds else [str(exchange)]
            yield judged(ALIVE, faults, story.call, exchange, expected="the task, as long as its ttlMs")
        if ended is None and (exchange.result or {}).get("status") in ENDS:
            ended = exchange.result


def _lives(task: dict[str, Any], exchange: Exchange, created: float) -> bool:
    """Whether the answer came before the task may be gone, counted from before it was made."""
    ttl = task.get("ttlMs")
    if ttl is None:
        return True
    assert exchange.answer is not None
    is_number = isinstance(ttl, int | float) and not isinstance(ttl, bool)
    return is_number and (exchange.answer.frame.t - created) * 1000 < ttl
