"""Lists of tools and prompts: declared, the same for all, and announced when they change."""

from collections.abc import Sequence
from typing import Any

import pytest

from assay.lab.harness.trace.frame import Frame, Header, Kind, Sender
from assay.lab.harness.trace.trace import NOT_RECEIVED, Trace
from assay.revisions.registry import PER_REQUEST
from tests.lab.suite.judging import seen
from tests.lab.traces import described, request, result, stdio_trace

NEWEST = PER_REQUEST[-1]


@pytest.mark.parametrize(
    ("capabilities", "tools", "expected"),
    [
        ({"tools": {}}, [{"name": "a"}], [("TL-01", True)]),
        ({}, [{"name": "a"}], [("TL-01", False)]),
        ({}, [], [("TL-01", True)]),
        (None, [{"name": "a"}], []),
    ],
)
def test_what_is_offered_is_declared(capabilities: Any, tools: Any, expected: Any) -> None:
    turns = [
        (">", request(1, "initialize")),
        ("<", result(1, capabilities=capabilities)),
        (">", request(2, "tools/list")),
        ("<", result(2, tools=tools)),
    ]
    assert seen("tools.declared", stdio_trace(*turns)) == expected


def test_refusal_of_a_list_that_is_not_declared_is_in_order() -> None:
    turns: list[tuple[str, Any]] = [
        (">", request(1, "server/discover")),
        ("<", result(1, capabilities={})),
        (">", described(2, "tools/list", NEWEST)),
        ("<", {"jsonrpc": "2.0", "id": 2, "error": {"code": -32601, "message": "no"}}),
    ]
    assert seen("tools.declared", stdio_trace(*turns, revision=NEWEST)) == [("TL-01", True)]
    assert seen("tools.available", stdio_trace(*turns, revision=NEWEST)) == []
    turns[1] = ("<", result(1, capabilities={"tools": {}}))
    assert seen("tools.available", stdio_trace(*turns, revision=NEWEST)) == [("TL-03", False)]


def read_by_turns(*readings: tuple[str, Sequence[str]]) -> Trace:
    """Lists as `(connection, names)`."""
    frames: list[Frame] = []
    for number, (connection, names) in enumerate(readings):
        asked, told = request(number, "tools/list"), result(number, tools=[{"name": one} for one in names])
        for sender, message in ((Sender.DRIVER, asked), (Sender.SUBJECT, told)):
            n = len(frames)
            trace = stdio_trace((">", message))
            frames.append(Frame(n, n / 1000, sender, f"{connection}/lines", Kind.LINE, trace.frames[0].raw))
    return Trace(Header(NEWEST.date, "stdio", "by hand", "by-hand", closed=True), frames)


@pytest.mark.parametrize(
    ("readings", "expected"),
    [
        ([("1", "ab"), ("2", "ab"), ("1", "ab"), ("2", "ab")], {("TL-04", True), ("TL-05", True)}),
        ([("1", "ab"), ("2", "abc"), ("1", "ab"), ("2", "abc")], {("TL-04", False)}),
        ([("1", "ab"), ("2", "ab"), ("1", "abc"), ("2", "abc")], {("TL-05", True)}),
        (
            [("1", "ab"), ("2", "ba"), ("1", "ab"), ("2", "ab")],
            {("TL-04", True), ("TL-05", False), ("TL-05", True)},
        ),
        ([("1", "ab"), ("2", "ab")], {("TL-05", True)}),
    ],
)
def test_two_connections_see_the_same(readings: Any, expected: Any) -> None:
    assert set(seen("tools.same-for-all", read_by_turns(*readings))) == expected


def changing(*between: Any, declared: bool = True) -> Trace:
    """A list that gains a prompt, with these messages of the subject before it is read again."""
    turns = [
        (">", request(1, "initialize")),
        ("<", result(1, capabilities={"prompts": {"listChanged": declared}})),
        (">", request(2, "prompts/list")),
        ("<", result(2, prompts=[])),
        *(("<", message) for message in between),
        (">", request(3, "prompts/list")),
        ("<", result(3, prompts=[{"name": "new"}])),
    ]
    return stdio_trace(*turns)


TOLD = {"jsonrpc": "2.0", "method": "notifications/prompts/list_changed"}


def unheard(trace: Trace) -> Trace:
    n = len(trace.frames)
    info = {"label": NOT_RECEIVED, "method": TOLD["method"]}
    mark = Frame(n, 1.0, Sender.DRIVER, "1/marks", Kind.MARK, info=info)
    return Trace(trace.header, [*trace.frames, mark])


def test_change_is_told_or_missed_but_silence_needs_somebody_who_waited() -> None:
    assert seen("prompts.list-changed", changing(TOLD)) == [("PR-02", True)]
    assert seen("prompts.list-changed", changing()) == []
    assert seen("prompts.list-changed", unheard(changing())) == [("PR-02", False)]
    assert seen("prompts.list-changed", unheard(changing(declared=False))) == []


def test_changes_are_told_only_by_who_declared_it() -> None:
    assert seen("prompts.negotiated", changing(TOLD)) == [("PR-14", True)]
    assert seen("prompts.negotiated", changing(TOLD, declared=False)) == [("PR-14", False)]
