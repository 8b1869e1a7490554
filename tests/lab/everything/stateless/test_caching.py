"""Checks of hints for caches, and of resources that are not there."""

from typing import Any

import pytest

from assay.lab.harness.trace.trace import Trace
from assay.revisions.registry import PER_REQUEST
from tests.lab.everything.observing import broken, held, seen
from tests.lab.traces import request, stdio_trace

NEW = PER_REQUEST[-1]
HINTS = {"ttlMs": 0, "cacheScope": "public"}
TOOLS, TTL = "sep-2549-tools-list-caching-hints", "sep-2549-ttl-non-negative"
SCOPE, ANSWERED = "sep-2549-cache-scope-valid", "sep-2549-caching-connection"


def talk(*turns: tuple[str, dict[str, Any], dict[str, Any]]) -> Trace:
    lines: list[tuple[str, Any]] = []
    for number, (method, params, answer) in enumerate(turns):
        kind = "error" if "code" in answer else "result"
        lines.append((">", request(number, method, **params)))
        lines.append(("<", {"jsonrpc": "2.0", "id": number, kind: answer}))
    return stdio_trace(*lines, revision=NEW)


@pytest.mark.parametrize(
    ("answer", "rows"),
    [
        (HINTS, set()),
        ({"ttlMs": 0}, {TOOLS}),
        ({**HINTS, "ttlMs": -1}, {TTL}),
        ({**HINTS, "ttlMs": 1.5}, {TTL}),
        ({**HINTS, "ttlMs": True}, {TTL}),
        ({**HINTS, "cacheScope": "shared"}, {SCOPE}),
        ({"code": -32603, "message": "no"}, {TOOLS, ANSWERED}),
    ],
)
def test_hints_for_caches(answer: dict[str, Any], rows: set[str]) -> None:
    assert broken("caching", talk(("tools/list", {}, answer))) == rows


NOT_FOUND = "sep-2164-resource-not-found"
EMPTY, CODE, URI = "sep-2164-no-empty-contents", "sep-2164-error-code", "sep-2164-data-uri"
NOWHERE = "test://nonexistent-resource-for-conformance-testing"
READ = {"contents": [{"uri": "a:1", "text": ""}]}
REFUSED = {"code": -32602, "message": "no", "data": {"uri": NOWHERE}}


@pytest.mark.parametrize(
    ("answer", "rows"),
    [
        (REFUSED, set()),
        ({"contents": []}, {EMPTY, CODE, URI}),
        (READ, {CODE, URI}),
        ({**REFUSED, "code": -32002}, {CODE}),
        ({**REFUSED, "data": {"uri": "a:1"}}, {URI}),
    ],
)
def test_a_resource_that_does_not_exist(answer: dict[str, Any], rows: set[str]) -> None:
    trace = talk(("resources/read", {"uri": "a:1"}, READ), ("resources/read", {"uri": NOWHERE}, answer))
    assert broken(NOT_FOUND, trace) == rows
    assert held(NOT_FOUND, trace) == {EMPTY, CODE, URI} - rows


def test_who_can_read_nothing_shows_nothing() -> None:
    unknown = {"code": -32601, "message": "no"}
    trace = talk(("resources/read", {"uri": "a:1"}, unknown), ("resources/read", {"uri": NOWHERE}, REFUSED))
    assert seen(NOT_FOUND, trace) == []
