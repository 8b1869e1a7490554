"""What the checks of the area jrpc see in conversations that no healthy server has."""

from typing import Any

import pytest

from assay.lab.harness.trace.trace import Trace
from assay.lab.marketplace.jsonrpc import BAD_PARAMS, NO_RESOURCE, UNKNOWN_METHOD, codes_for
from assay.lab.suites import suite_named
from assay.model.error import (
    HEADER_MISMATCH,
    INTERNAL_ERROR,
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    RESOURCE_NOT_FOUND,
)
from assay.revisions.registry import HANDSHAKE, PER_REQUEST
from tests.lab.traces import probed, request, result, stdio_trace

LISTED = {"tools": [{"name": "a", "inputSchema": {}}]}
CHANGED = {"tools": [{"name": "a", "inputSchema": {"type": "object"}}]}
ANNOUNCED = {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}


def seen(check: str, trace: Trace) -> list[bool]:
    return [one.holds for one in suite_named("marketplace").checks[f"jrpc.{check}"].judge(trace)]


def refused(number: Any, code: int) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "error": {"code": code, "message": "no"}}


def read_twice(*between: Any, second: dict[str, Any] = LISTED) -> Trace:
    said = [(">", request(1, "tools/list")), ("<", result(1, **LISTED)), *(("<", one) for one in between)]
    return stdio_trace(*said, (">", request(2, "tools/list")), ("<", result(2, **second)))


@pytest.mark.parametrize(
    ("asked", "said", "holds"),
    [
        (7, result(7), [True]),
        (7, result("7"), [False]),
        ("7", result(7), [False]),
        (7, refused(7, METHOD_NOT_FOUND), [True]),
        (7, refused(None, METHOD_NOT_FOUND), [False]),
    ],
)
def test_id_comes_back_as_it_was(asked: Any, said: Any, holds: list[bool]) -> None:
    assert seen("ids", stdio_trace((">", request(asked, "ping")), ("<", said))) == holds


def test_answer_under_the_id_of_an_earlier_request_is_found() -> None:
    turns = [(">", request(7, "ping")), ("<", result(7)), (">", request("7", "ping")), ("<", result(7))]
    assert seen("ids", stdio_trace(*turns)) == [False]


@pytest.mark.parametrize(
    ("said", "holds"), [([], True), ([refused(None, -32600)], True), ([result(None)], False)]
)
def test_null_id_may_be_refused_or_ignored(said: list[Any], holds: bool) -> None:
    trace = stdio_trace((">", request(None, "ping")), *(("<", one) for one in said))
    assert seen("null-id", probed(trace, "null id")) == [holds]


@pytest.mark.parametrize(
    ("said", "holds"),
    [
        ([result("b"), result("a", **LISTED)], [True, True]),
        ([result("a"), result("b", **LISTED)], [False, False]),
        ([result("a", **LISTED)], [True, False]),
        ([result("a", **LISTED), result("b"), result("b")], [True, False]),
        ([refused("a", -32603), result("b")], [True, True]),
    ],
)
def test_requests_at_once_are_told_apart(said: list[Any], holds: list[bool]) -> None:
    asked = [(">", request("a", "tools/list")), (">", request("b", "ping"))]
    assert seen("at-once", probed(stdio_trace(*asked, *(("<", one) for one in said)), "at once")) == holds


@pytest.mark.parametrize(
    ("cause", "code", "holds"),
    [
        (UNKNOWN_METHOD, METHOD_NOT_FOUND, [True]),
        (UNKNOWN_METHOD, INVALID_PARAMS, [False]),
        (NO_RESOURCE, RESOURCE_NOT_FOUND, [True]),
        (NO_RESOURCE, INVALID_PARAMS, [True]),
        (NO_RESOURCE, INTERNAL_ERROR, [False]),
        ("a cause that nobody knows", INVALID_PARAMS, []),
    ],
)
def test_code_is_that_of_the_cause(cause: str, code: int, holds: list[bool]) -> None:
    trace = stdio_trace((">", request(1, "some/method")), ("<", refused(1, code)))
    assert seen("codes", probed(trace, "cause", cause=cause)) == holds


def test_codes_are_those_of_the_revision_and_the_transport() -> None:
    old, new = HANDSHAKE[-1], PER_REQUEST[-1]
    assert codes_for(NO_RESOURCE, "stdio", new) == {INVALID_PARAMS}
    assert codes_for(BAD_PARAMS, "http", old) == {INVALID_PARAMS}
    assert codes_for(BAD_PARAMS, "http", new) == {INVALID_PARAMS, HEADER_MISMATCH}


def test_list_that_stays_the_same_holds() -> None:
    assert seen("drift", read_twice()) == [True]


def test_list_that_changes_unannounced_is_found() -> None:
    assert seen("drift", read_twice(second=CHANGED)) == [False]
    assert seen("drift", read_twice(second={"tools": []})) == [False]


def test_change_that_was_announced_is_no_drift() -> None:
    assert seen("drift", read_twice(ANNOUNCED, second=CHANGED)) == []


def test_order_and_state_of_items_may_differ() -> None:
    first = {"resources": [{"uri": "a://1", "name": "a", "size": 1}, {"uri": "a://2", "name": "b"}]}
    second = {"resources": [{"uri": "a://2", "name": "b"}, {"uri": "a://1", "name": "a", "size": 2}]}
    asked = [(">", request(1, "resources/list")), ("<", result(1, **first))]
    asked += [(">", request(2, "resources/list")), ("<", result(2, **second))]
    assert seen("drift", stdio_trace(*asked)) == [True]
