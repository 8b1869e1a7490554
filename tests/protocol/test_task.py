"""Tasks as values: the transition table, questions and answers, and the two forms on the wire."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw

from assay.model.task import UNFINISHED, Status, TaskRecord
from assay.protocol.task import (
    RULES,
    TERMINAL,
    TRANSITIONS,
    answered,
    asked,
    detailed,
    moved,
    shown,
    withdrawn,
)
from assay.revisions.revision import TaskForm

ANSWER = Raw(b'{"action":"accept"}')


def record(**changed: Any) -> TaskRecord:
    fields: dict[str, Any] = {
        "id": "t",
        "owner": "",
        "form": "extension",
        "tool": "slow",
        "worker": "",
        "created": 1000.0,
        "updated": 1000.0,
        "ttl": 60_000,
        "poll_interval": 500,
    }
    return TaskRecord(**fields | changed)


def test_the_table_names_every_state_and_ends_in_those_that_are_finished() -> None:
    assert set(TRANSITIONS) == set(Status)
    assert TERMINAL == {Status.COMPLETED, Status.FAILED, Status.CANCELLED} == set(Status) - UNFINISHED


STEPS = st.one_of(
    st.tuples(st.just("move"), st.sampled_from(Status)),
    st.tuples(st.just("ask"), st.sampled_from("abc")),
    st.tuples(st.just("answer"), st.sampled_from("abcd")),
    st.tuples(st.just("withdraw"), st.sampled_from("abcd")),
)


def apply(task: TaskRecord, step: tuple[str, Any], now: float) -> TaskRecord | None:
    kind, value = step
    if kind == "move":
        return moved(task, value, now)
    if kind == "ask":
        return asked(task, value, Raw(b"{}"), now)
    return answered(task, {value: ANSWER}, now) if kind == "answer" else withdrawn(task, {value: None}, now)


@given(st.lists(STEPS, max_size=30), st.lists(st.floats(0, 5000), min_size=30, max_size=30))
def test_states_follow_each_other_only_as_the_table_allows(steps: list[Any], times: list[float]) -> None:
    task = record()
    for step, now in zip(steps, times, strict=False):
        following = apply(task, step, now)
        if following is None:
            continue
        assert task.status not in TERMINAL
        assert following.status is task.status or following.status in TRANSITIONS[task.status]
        assert following.version == task.version + 1
        assert following.updated >= task.updated >= task.created
        if following.is_finished:
            assert (following.questions, following.answers) == ({}, {})
        elif step[0] != "move":
            assert (following.status is Status.INPUT_REQUIRED) == bool(following.questions)
        task = following


@pytest.mark.parametrize("status", sorted(TERMINAL, key=str))
def test_a_finished_task_never_changes(status: Status) -> None:
    finished = moved(record(), status, 1001)
    assert finished is not None
    assert all(apply(finished, step, 1002) is None for step in (("move", each) for each in Status))
    assert apply(finished, ("ask", "a"), 1002) is None
    assert apply(finished, ("answer", "a"), 1002) is None


def test_answers_to_questions_that_were_never_asked_are_ignored() -> None:
    task = asked(record(), "a", Raw(b"{}"), 1001)
    assert task is not None
    assert answered(task, {"b": ANSWER}, 1002) is None
    partly = answered(task, {"a": ANSWER, "b": ANSWER}, 1002)
    assert partly is not None
    assert (partly.status, partly.questions, partly.answers) == (Status.WORKING, {}, {"a": ANSWER})


def test_a_task_with_a_question_left_still_requires_input() -> None:
    task = asked(record(), "a", Raw(b"{}"), 1001)
    task = None if task is None else asked(task, "b", Raw(b"{}"), 1001)
    task = None if task is None else answered(task, {"a": ANSWER}, 1002)
    assert task is not None
    assert (task.status, set(task.questions)) == (Status.INPUT_REQUIRED, {"b"})


def test_the_forms_name_their_times_differently() -> None:
    times = {"createdAt": "1970-01-01T00:16:40.000Z", "lastUpdatedAt": "1970-01-01T00:16:40.000Z"}
    common = {"taskId": "t", "status": "working", **times}
    assert shown(record(), TaskForm.CORE) == {**common, "ttl": 60_000, "pollInterval": 500}
    assert shown(record(), TaskForm.EXTENSION) == {**common, "ttlMs": 60_000, "pollIntervalMs": 500}


def test_each_state_shows_what_belongs_to_it_and_nothing_else() -> None:
    extra = {Status.INPUT_REQUIRED: "inputRequests", Status.COMPLETED: "result", Status.FAILED: "error"}
    for status in Status:
        fields = detailed(record(status=status), {}).keys() - shown(record(), TaskForm.EXTENSION).keys()
        assert fields == ({extra[status]} if status in extra else set())


def test_errors_differ_by_form_as_the_specification_says() -> None:
    core, extension = RULES[TaskForm.CORE], RULES[TaskForm.EXTENSION]
    assert (core.task_needed, core.task_refused, core.cancel_finished) == (-32601, -32601, -32602)
    assert (extension.task_needed, extension.task_refused, extension.cancel_finished) == (-32021, None, None)
    assert core.unknown == extension.unknown == -32602
    assert (core.tool_error, extension.tool_error) == (Status.FAILED, Status.COMPLETED)
