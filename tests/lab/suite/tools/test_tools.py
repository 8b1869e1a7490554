"""Checks of tools on traces written by hand: what they overlook, and what they do not."""

from typing import Any

import pytest

from assay.lab.harness.trace.trace import Trace
from assay.lab.suite.tools.results import _is_json_of
from assay.revisions.registry import HANDSHAKE, PER_REQUEST
from assay.revisions.revision import Revision
from tests.lab.suite.judging import seen
from tests.lab.traces import request, result, stdio_trace

NEWEST = PER_REQUEST[-1]
ECHO = {
    "name": "echo",
    "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
}
DONE = {"content": [{"type": "text", "text": "x"}]}
FAILED = {"content": [], "isError": True}


def called(
    *calls: tuple[dict[str, Any], Any],
    tools: list[Any] | None = None,
    revision: Revision = HANDSHAKE[-1],
    capabilities: Any = None,
) -> Trace:
    """A handshake, the list, then calls as `(parameters, answer)`; an answer with a code is an error."""
    turns: list[tuple[str, Any]] = [
        (">", request("hello", "initialize")),
        ("<", result("hello", capabilities={"tools": {}} if capabilities is None else capabilities)),
        (">", request("list", "tools/list")),
        ("<", result("list", tools=[ECHO] if tools is None else tools)),
    ]
    for number, (params, answer) in enumerate(calls):
        kind = "error" if "code" in answer else "result"
        turns.append((">", request(number, "tools/call", **params)))
        turns.append(("<", {"jsonrpc": "2.0", "id": number, kind: answer}))
    return stdio_trace(*turns, revision=revision)


def echo(text: Any) -> dict[str, Any]:
    return {"name": "echo", "arguments": {"text": text}}


GOOD = (echo("a"), DONE)


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (FAILED, [("TL-23", True), ("TL-21", True)]),
        ({"code": -32602, "message": "no"}, [("TL-23", True), ("TL-21", False)]),
        ({"code": -32000, "message": "slow down"}, [("TL-23", True)]),
        (DONE, [("TL-23", False)]),
    ],
)
def test_arguments_that_do_not_fit(answer: Any, expected: Any) -> None:
    assert seen("tools.bad-arguments", called(GOOD, (echo(5), answer))) == expected


def test_refusal_proves_nothing_of_a_tool_that_never_works() -> None:
    bad = (echo(5), {"code": -32602, "message": "no"})
    assert seen("tools.bad-arguments", called((echo("a"), FAILED), bad)) == []
    assert seen("tools.bad-arguments", called((echo(5), DONE))) == [("TL-23", False)]


def test_older_revisions_leave_open_how_arguments_are_refused() -> None:
    bad = (echo(5), {"code": -32602, "message": "no"})
    assert seen("tools.bad-arguments", called(GOOD, bad, revision=HANDSHAKE[0])) == [("TL-23", True)]


@pytest.mark.parametrize(
    ("params", "answer", "expected"),
    [
        (echo("a"), DONE, [("TL-20", True)]),
        (echo("a"), FAILED, [("TL-20", True)]),
        (echo("a"), {"code": -32603, "message": "boom"}, [("TL-20", False)]),
        (echo(5), {"code": -32603, "message": "boom"}, []),
        (echo("a"), {"code": -32021, "message": "needs roots"}, []),
        ({"name": "other"}, {"code": -32603, "message": "boom"}, []),
    ],
)
def test_failures_of_tools(params: Any, answer: Any, expected: Any) -> None:
    assert seen("tools.failure", called((params, answer))) == expected


@pytest.mark.parametrize(("answer", "holds"), [(DONE, False), (FAILED, True), ({"code": -32602}, True)])
def test_other_case_is_another_name_only_after_the_right_one_worked(answer: Any, holds: bool) -> None:
    shouted = ({"name": "ECHO", "arguments": {"text": "a"}}, answer)
    assert seen("tools.letter-case", called(GOOD, shouted)) == [("TL-08", holds)]
    assert seen("tools.letter-case", called(shouted)) == []
    assert seen("tools.letter-case", called(GOOD, ({"name": "no-such"}, answer))) == []


@pytest.mark.parametrize(
    ("name", "broken"),
    [
        ("admin.tools-list_V2", set()),
        ("x" * 128, set()),
        ("x" * 129, {"TL-07"}),
        ("", {"TL-07"}),
        ("größe", {"TL-09"}),
        ("two words", {"TL-09", "TL-10"}),
        ("a/b", {"TL-09", "TL-10"}),
    ],
)
def test_names(name: str, broken: set[str]) -> None:
    found = seen("tools.names", called(tools=[{**ECHO, "name": name}]))
    assert {row for row, holds in found if not holds} == broken


def test_names_are_unique_over_all_pages_but_not_over_two_readings() -> None:
    pages = [
        (">", request(1, "tools/list")),
        ("<", result(1, tools=[ECHO], nextCursor="2")),
        (">", request(2, "tools/list", cursor="2")),
        ("<", result(2, tools=[ECHO])),
    ]
    assert ("TL-11", False) in seen("tools.names", stdio_trace(*pages))
    again = [(">", request(2, "tools/list")), ("<", result(2, tools=[ECHO]))]
    assert ("TL-11", False) not in seen("tools.names", stdio_trace(*pages[:2], *again))


@pytest.mark.parametrize(
    ("text", "value", "same"),
    [
        ('{"a": 1.0}', {"a": 1}, True),
        ("[1]", [1], True),
        ("null", None, True),
        ("{", {}, False),
        (7, 7, False),
    ],
)
def test_text_says_the_same_as_structured_content(text: Any, value: Any, same: bool) -> None:
    assert _is_json_of(text, value) is same


def test_structured_content_may_be_anything_in_the_newest_revision() -> None:
    answer = (echo("a"), {"structuredContent": [1], "content": [{"type": "text", "text": "[1]"}]})
    assert seen("tools.structured-object", called(answer)) == [("TL-17", False)]
    assert seen("tools.structured-object", called(answer, revision=NEWEST)) == []
    assert seen("tools.structured-text", called(answer)) == [("TL-14", True)]


def test_call_that_asks_first_or_fails_owes_no_structured_content() -> None:
    tool = {**ECHO, "outputSchema": {"type": "object"}}
    asking = (echo("a"), {"resultType": "input_required", "inputRequests": {}})
    calls = [asking, (echo("a"), FAILED), (echo("a"), DONE)]
    found = seen("tools.structured-output", called(*calls, tools=[tool], revision=NEWEST))
    assert found == [("TL-15", False)]


@pytest.mark.parametrize(("capabilities", "holds"), [({"resources": {}}, True), ({"tools": {}}, False)])
def test_embedding_server_declares_resources(capabilities: Any, holds: bool) -> None:
    embedded = (echo("a"), {"content": [{"type": "resource"}]})
    assert seen("tools.embedded-resource", called(embedded, capabilities=capabilities)) == [("TL-18", holds)]


def test_unknown_tool_is_judged_where_a_list_was_read_even_an_empty_one() -> None:
    unknown = ({"name": "no-such"}, {"code": -32602, "message": "unknown"})
    assert seen("tools.unknown-name", called(unknown, tools=[])) == [("TL-19", True), ("TL-32", True)]
    as_method = ({"name": "no-such"}, {"code": -32601, "message": "unknown"})
    assert seen("tools.unknown-name", called(as_method, tools=[])) == [("TL-19", True), ("TL-32", False)]
    assert seen("tools.unknown-name", called(({"name": "no-such"}, FAILED))) == [("TL-19", False)]
