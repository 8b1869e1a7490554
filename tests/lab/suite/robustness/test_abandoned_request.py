"""Checks of cancelled and abandoned requests on traces written by hand."""

from typing import Any

import pytest

from assay.lab.harness.trace.frame import Frame, Kind, Sender
from assay.lab.harness.trace.trace import Trace
from assay.lab.suite.robustness.abandoned_request import AWAITED, CANCELLATIONS
from assay.revisions.registry import HANDSHAKE
from tests.lab.suite.conversation import Said, conversation
from tests.lab.suite.judging import seen
from tests.lab.traces import request, result, stdio_trace

REVISION = HANDSHAKE[-1]
NAME = f"{AWAITED}1"
AWAITED_REQUESTS, CANCELLED_RESPONSES = "robustness.awaited-requests", "robustness.cancelled-responses"
AFTER = "robustness.after-disconnections"
CANCEL = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7}}


def marked(trace: Trace, *more: dict[str, Any]) -> Trace:
    """The trace with the mark of the scenario, and further marks."""
    infos = [{"label": CANCELLATIONS}, *more]
    begin = len(trace.frames)
    marks = [
        Frame(begin + n, 9.0, Sender.DRIVER, "1/marks", Kind.MARK, b"", info) for n, info in enumerate(infos)
    ]
    return Trace(trace.header, [*trace.frames, *marks])


@pytest.mark.parametrize(
    ("answers", "observed"),
    [(1, [("ROBUST-05", True)]), (2, [("ROBUST-05", False)]), (0, [])],
)
def test_awaited_request_is_answered_once(answers: int, observed: list[tuple[str, bool]]) -> None:
    turns = [(">", request(NAME, "ping")), *([("<", result(NAME))] * answers)]
    assert seen(AWAITED_REQUESTS, marked(stdio_trace(*turns))) == observed


def test_awaited_request_without_an_answer_in_time_is_reported() -> None:
    silence = {"label": "no answer", "id": NAME, "waited": 10.0}
    trace = marked(stdio_trace((">", request(NAME, "ping"))), silence)
    assert seen(AWAITED_REQUESTS, trace) == [("ROBUST-05", False)]


def test_exit_of_the_process_is_not_a_second_finding() -> None:
    trace = marked(stdio_trace((">", request(NAME, "ping"))))
    end = Frame(len(trace.frames), 1.0, Sender.SUBJECT, "1/lines", Kind.EXIT, b"", {"status": 1})
    assert seen(AWAITED_REQUESTS, Trace(trace.header, [*trace.frames, end])) == []


@pytest.mark.parametrize(("status", "holds"), [(429, True), (202, False), (200, False)])
def test_awaited_request_over_http_is_answered_or_refused(status: int, holds: bool) -> None:
    trace = marked(conversation(REVISION, Said(request(NAME, "ping"), status)))
    assert seen(AWAITED_REQUESTS, trace) == [("ROBUST-05", holds)]


def test_other_requests_are_not_judged() -> None:
    assert seen(AWAITED_REQUESTS, marked(conversation(REVISION, Said(request(7, "ping"), 202)))) == []


@pytest.mark.parametrize(
    ("turn", "observed"),
    [
        (Said(request(7, "tools/call"), 200, b""), [("ROBUST-06", False)]),
        (Said(request(7, "tools/call"), 200), [("ROBUST-06", False)]),
        (Said(request(7, "tools/call"), 200, []), [("ROBUST-06", True)]),
        (Said(request(7, "tools/call"), 202), [("ROBUST-06", True)]),
        (Said(request(7, "tools/call"), 200, result(7)), [("ROBUST-06", True)]),
        (Said(request(7, "tools/call"), 200, [], over=False), []),
        (Said(request(8, "tools/call"), 200), []),
    ],
)
def test_cancelled_request_gets_no_empty_success(turn: Said, observed: list[tuple[str, bool]]) -> None:
    trace = conversation(REVISION, turn, Said(CANCEL, 202))
    assert seen(CANCELLED_RESPONSES, trace) == observed


@pytest.mark.parametrize(
    ("last", "holds"),
    [(Said(request(2, "ping"), 200, result(2)), True), (Said(request(2, "ping"), 502), False)],
)
def test_requests_after_a_disconnection_are_served(last: Said, holds: bool) -> None:
    trace = conversation(REVISION, Said(request(1, "tools/call"), 200, [], left=True), last)
    assert seen(AFTER, trace) == [("ROBUST-07", holds)]


def test_without_a_disconnection_nothing_is_judged() -> None:
    assert seen(AFTER, conversation(REVISION, Said(request(2, "ping"), 502))) == []
