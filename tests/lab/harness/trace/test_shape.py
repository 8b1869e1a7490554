"""Shapes: what the official types refuse, and the nulls that they let pass."""

from typing import Any

import pytest

from assay.lab.harness.trace.shape import asked_problem, knows, result_problem, sent_problem
from assay.revisions.registry import HANDSHAKE, PER_REQUEST, REVISIONS
from assay.revisions.revision import Revision
from tests.lab.traces import stdio_trace

NEWEST = HANDSHAKE[-1]
TOOL = {"name": "a", "inputSchema": {"type": "object"}}
# What every result has to say of itself in revisions without a handshake.
TYPED = {"resultType": "complete", "ttlMs": 0, "cacheScope": "public"}


def problem(result: Any, method: str = "tools/list", revision: Revision = NEWEST) -> str | None:
    return result_problem(method, result, revision)


@pytest.mark.parametrize("revision", REVISIONS, ids=str)
def test_null_for_a_field_that_may_be_left_out_is_a_problem(revision: Revision) -> None:
    extra = TYPED if revision in PER_REQUEST else {}
    assert problem({"tools": [TOOL], **extra}, revision=revision) is None
    found = problem({"tools": [TOOL], "nextCursor": None, **extra}, revision=revision)
    assert found == "nextCursor: null, where it must be left out"


def test_nulls_deep_inside_are_found_with_their_path() -> None:
    found = problem({"tools": [TOOL, {**TOOL, "annotations": {"title": None}}]})
    assert found == "tools.1.annotations.title: null, where it must be left out"


@pytest.mark.parametrize(
    ("result", "revision"),
    [
        ({"content": [], "structuredContent": {"a": None}}, NEWEST),
        ({"content": [], "_meta": {"vendor/x": None}}, NEWEST),
        ({"content": [], "structuredContent": None, "resultType": "complete"}, PER_REQUEST[-1]),
    ],
)
def test_null_is_fine_where_any_value_is(result: dict[str, Any], revision: Revision) -> None:
    assert problem(result, "tools/call", revision) is None


def test_many_problems_are_told_in_short() -> None:
    found = problem({"tools": [{**TOOL, "description": None} for _ in range(5)]})
    assert found is not None and found.endswith("(and 2 more)")


def test_unknown_method_and_no_object_are_not_mistaken() -> None:
    assert problem({"anything": None}, "no/such") is None
    assert problem([1]) is not None


def test_what_a_server_sends_by_itself_is_judged_too() -> None:
    notice = {"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": None}}
    odd = {"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"_meta": None}}
    (good, bad) = stdio_trace(("<", notice), ("<", odd)).received
    assert knows(good, NEWEST) and sent_problem(good, NEWEST) is None
    assert sent_problem(bad, NEWEST) == "params._meta: null, where it must be left out"


@pytest.mark.parametrize(
    ("result", "fits"),
    [
        ({"resultType": "complete", "content": []}, True),
        ({"resultType": "complete"}, False),
        ({"resultType": "complete", "inputRequests": {}}, False),
        ({"resultType": "input_required", "requestState": "s"}, True),
        ({"resultType": "input_required", "inputRequests": {"a": {"method": "no/such"}}}, False),
        ({"resultType": "task", "taskId": "1"}, True),  # of an extension, whose form is not known here
        ({"content": []}, False),
    ],
)
def test_result_that_may_ask_is_held_to_what_it_says_it_is(result: dict[str, Any], fits: bool) -> None:
    assert (problem(result, "tools/call", PER_REQUEST[-1]) is None) is fits


@pytest.mark.parametrize(
    ("params", "fits"),
    [({"name": "a"}, True), ({"name": "a", "arguments": None}, True), ({"name": 1}, False), ({}, False)],
)
def test_what_the_driver_asks_is_bad_where_no_server_could_take_it(
    params: dict[str, Any], fits: bool
) -> None:
    asked = {"jsonrpc": "2.0", "id": 1, "method": "prompts/get", "params": params}
    (message,) = stdio_trace((">", asked)).messages
    assert (asked_problem(message, NEWEST) is None) is fits
