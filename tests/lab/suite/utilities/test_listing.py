"""Checks of pages and completion on traces written by hand."""

from typing import Any

import msgspec
import pytest

from assay.lab.harness.trace.trace import Trace
from assay.revisions.registry import HANDSHAKE, REVISIONS
from assay.revisions.revision import Revision
from tests.lab.suite.judging import seen
from tests.lab.traces import probed, request, result, stdio_trace

Page = tuple[str | None, Any]


def pages(*read: Page) -> list[bool]:
    """Pages as `(cursor, names and the next cursor)`; an answer that is a number is an error."""
    turns: list[tuple[str, Any]] = []
    for number, (cursor, answer) in enumerate(read):
        turns.append(
            (">", request(number, "tools/list", **({"cursor": cursor} if cursor is not None else {})))
        )
        if isinstance(answer, int):
            turns.append(("<", {"jsonrpc": "2.0", "id": number, "error": {"code": answer, "message": ""}}))
        else:
            names, onward = answer
            tools = [{"name": name} for name in names]
            more = {} if onward is None else {"nextCursor": onward}
            turns.append(("<", result(number, tools=tools, **more)))
    return [holds for _, holds in seen("utilities.pages", stdio_trace(*turns))]


FIRST: Page = (None, ("ab", "x"))


@pytest.mark.parametrize(
    ("read", "expected"),
    [
        ([FIRST, ("x", ("c", None))], [True, True]),
        ([FIRST, ("x", ("c", None)), FIRST, ("x", ("c", None))], [True] * 4),
        # A thing came in between two readings of one page.
        ([FIRST, ("x", ("c", None)), ("x", ("cd", None))], [True] * 3),
        ([FIRST, ("x", ("c", None)), ("x", ("d", None))], [True, True, False]),
        ([FIRST, ("x", ("c", None)), ("x", -32602)], [True, True, False]),
        ([FIRST, ("x", -32602)], [True, False]),
        ([FIRST, ("x", ("bc", None))], [True, False]),
        ([FIRST, ("x", ("c", "x"))], [True, False]),
        # The empty text is a cursor like any other; one that was never issued is another check's affair.
        ([(None, ("ab", "")), ("", ("c", None))], [True, True]),
        ([FIRST, ("odd", ("ab", "x"))], [True]),
        # A list of one page says nothing about cursors.
        ([(None, ("ab", None)), (None, ("c", None))], []),
    ],
)
def test_cursors_are_stable(read: list[Page], expected: list[bool]) -> None:
    assert pages(*read) == expected


@pytest.mark.parametrize(("onward", "expected"), [(None, []), ("x", [("PAG-03", False)])])
def test_list_of_one_page_has_no_cursor_to_be_wrong(onward: str | None, expected: Any) -> None:
    more = {} if onward is None else {"nextCursor": onward}
    wrong = stdio_trace((">", request(1, "tools/list", cursor="odd")), ("<", result(1, tools=[], **more)))
    probe = probed(wrong, "bad cursor", method="tools/list")
    first = stdio_trace((">", request(2, "tools/list")), ("<", result(2, tools=[], **more)))
    later = [msgspec.structs.replace(frame, n=frame.n + len(probe.frames)) for frame in first.frames]
    assert seen("utilities.bad-cursor", Trace(probe.header, [*probe.frames, *later])) == expected


def completed(
    answer: dict[str, Any], revision: Revision = HANDSHAKE[-1], **capabilities: Any
) -> list[tuple[str, bool]]:
    opening = "initialize" if revision in HANDSHAKE else "server/discover"
    trace = stdio_trace(
        (">", request(0, opening)),
        ("<", result(0, capabilities=capabilities)),
        (">", request(1, "completion/complete")),
        ("<", {"jsonrpc": "2.0", "id": 1, **answer}),
        revision=revision,
    )
    return seen("utilities.completion-declared", trace)


def test_who_completes_has_declared_it_and_who_does_not_knows_no_such_method() -> None:
    done: dict[str, Any] = {"result": {"completion": {"values": ["a"]}}}
    assert completed(done, completions={}) == [("CMP-01", True)]
    assert completed(done) == [("CMP-01", False)]
    assert completed({"error": {"code": -32601, "message": ""}}) == [("CMP-03", True)]
    assert completed({"error": {"code": -32600, "message": ""}}) == [("CMP-03", False)]


def test_completion_that_never_has_a_value_is_not_offered_but_not_refused_either() -> None:
    stub: dict[str, Any] = {"result": {"completion": {"values": []}}}
    assert completed(stub) == [("CMP-03", False)]
    assert completed(stub, completions={}) == [("CMP-01", True)]
    assert completed(stub, REVISIONS[-1]) == [("CMP-01", False)]
    assert completed({"result": {"resultType": "complete"}}, REVISIONS[-1]) == [("CMP-03", False)]


@pytest.mark.parametrize(("count", "holds"), [(0, True), (100, True), (101, False)])
def test_a_completion_has_a_hundred_values_at_most(count: int, holds: bool) -> None:
    answer = result(1, completion={"values": ["x"] * count})
    trace = stdio_trace((">", request(1, "completion/complete")), ("<", answer))
    assert seen("utilities.completion-values", trace) == [("CMP-02", holds)]
