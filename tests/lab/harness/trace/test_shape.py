"""Shapes: what the official types reject, and the nulls that they accept."""

from typing import Any

import pytest

from assay.lab.harness.trace.shape import (
    driver_request_problem,
    is_server_message,
    result_problem,
    server_message_problem,
)
from assay.revisions.registry import HANDSHAKE, PER_REQUEST, REVISIONS
from assay.revisions.revision import Revision
from tests.lab.traces import stdio_trace

NEWEST = HANDSHAKE[-1]
TOOL = {"name": "a", "inputSchema": {"type": "object"}}
# Members that every result has in revisions without a handshake.
TYPED = {"resultType": "complete", "ttlMs": 0, "cacheScope": "public"}


def problem(result: Any, method: str = "tools/list", revision: Revision = NEWEST) -> str | None:
    return result_problem(method, result, revision)


@pytest.mark.parametrize("revision", REVISIONS, ids=str)
def test_null_for_a_field_that_may_be_left_out_is_a_problem(revision: Revision) -> None:
    extra = TYPED if revision in PER_REQUEST else {}
    assert problem({"tools": [TOOL], **extra}, revision=revision) is None
    text = problem({"tools": [TOOL], "nextCursor": None, **extra}, revision=revision)
    assert text == "nextCursor: null, but an optional field must be omitted"


def test_nulls_deep_inside_are_found_with_their_path() -> None:
    text = problem({"tools": [TOOL, {**TOOL, "annotations": {"title": None}}]})
    assert text == "tools.1.annotations.title: null, but an optional field must be omitted"


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


def test_many_problems_are_summarized() -> None:
    text = problem({"tools": [{**TOOL, "description": None} for _ in range(5)]})
    assert text is not None and text.endswith("(and 2 more)")


def test_unknown_methods_pass_and_results_that_are_not_objects_fail() -> None:
    assert problem({"anything": None}, "no/such") is None
    assert problem([1]) is not None


def test_requests_and_notifications_of_a_server_are_judged_too() -> None:
    notice = {"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": None}}
    odd = {"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"_meta": None}}
    (good, bad) = stdio_trace(("<", notice), ("<", odd)).received
    assert is_server_message(good, NEWEST) and server_message_problem(good, NEWEST) is None
    assert server_message_problem(bad, NEWEST) == "params._meta: null, but an optional field must be omitted"


@pytest.mark.parametrize(
    ("result", "fits"),
    [
        ({"resultType": "complete", "content": []}, True),
        ({"resultType": "complete"}, False),
        ({"resultType": "complete", "inputRequests": {}}, False),
        ({"resultType": "input_required", "requestState": "s"}, True),
        ({"resultType": "input_required", "inputRequests": {"a": {"method": "no/such"}}}, False),
        ({"resultType": "task", "taskId": "1"}, True),  # of an extension, whose type is unknown here
        ({"content": []}, False),
    ],
)
def test_result_is_validated_by_its_result_type(result: dict[str, Any], fits: bool) -> None:
    assert (problem(result, "tools/call", PER_REQUEST[-1]) is None) is fits


@pytest.mark.parametrize(
    ("params", "fits"),
    [({"name": "a"}, True), ({"name": "a", "arguments": None}, True), ({"name": 1}, False), ({}, False)],
)
def test_request_of_the_driver_may_have_nulls_but_no_wrong_types(params: dict[str, Any], fits: bool) -> None:
    request = {"jsonrpc": "2.0", "id": 1, "method": "prompts/get", "params": params}
    (message,) = stdio_trace((">", request)).messages
    assert (driver_request_problem(message, NEWEST) is None) is fits
