"""Checks of servers that exit or do not answer, on traces written by hand."""

from typing import Any

import pytest

from assay.lab.harness.trace.frame import Frame, Kind, Sender
from assay.lab.harness.trace.trace import Trace
from assay.lab.suites import protocol_suite
from assay.revisions.registry import HANDSHAKE
from tests.lab.suite.conversation import Said, conversation
from tests.lab.suite.judging import seen
from tests.lab.traces import request, result, stdio_trace

RUNNING, ANSWERED = "robustness.keeps-running", "robustness.every-answer"
OPENED = ((">", request(1, "initialize")), ("<", result(1, protocolVersion="x")))
DIED = [("ROBUST-10", False)]
SILENT = ("ROBUST-11", False)


def more(trace: Trace, *frames: tuple[Sender, str, Kind, bytes, dict[str, Any]]) -> Trace:
    begin = len(trace.frames)
    added = [Frame(begin + n, 9.0, *frame) for n, frame in enumerate(frames)]
    return Trace(trace.header, [*trace.frames, *added])


def exited(status: int = 3) -> tuple[Sender, str, Kind, bytes, dict[str, Any]]:
    return Sender.SUBJECT, "1/lines", Kind.EXIT, b"", {"status": status}


def errors(text: bytes) -> tuple[Sender, str, Kind, bytes, dict[str, Any]]:
    return Sender.SUBJECT, "1/errors", Kind.ERRORS, text, {}


def silence(request_id: Any) -> tuple[Sender, str, Kind, bytes, dict[str, Any]]:
    info = {"label": "no answer", "id": request_id, "waited": 10.0}
    return Sender.DRIVER, "1/marks", Kind.MARK, b"", info


def test_exit_is_reported_with_its_status_and_standard_error() -> None:
    trace = more(stdio_trace((">", request(7, "ping"))), errors(b"first"), errors(b"boom"), exited())
    (observation,) = protocol_suite().checks[RUNNING].judge(trace)
    assert not observation.holds
    assert observation.observed == "the subject's process exited with status 3; standard error: first / boom"
    assert observation.frames == (0, 1, 2, 3)


def test_exit_by_a_signal_names_the_signal() -> None:
    trace = more(stdio_trace((">", request(7, "ping"))), exited(-11))
    (observation,) = protocol_suite().checks[RUNNING].judge(trace)
    assert observation.observed == "the subject's process was ended by signal SIGSEGV"


@pytest.mark.parametrize(
    "reason",
    [
        (Sender.DRIVER, "1/lines", Kind.END, b"", {"clean": True}),
        (Sender.DRIVER, "1/lines", Kind.MARK, b"", {"label": "terminated"}),
    ],
)
def test_exit_that_the_driver_asked_for_is_no_fault(reason: Any) -> None:
    assert seen(RUNNING, more(stdio_trace((">", request(7, "ping"))), reason, exited(0))) == []


def test_local_server_that_accepts_no_connection_is_reported() -> None:
    mark = (Sender.DRIVER, "2/marks", Kind.MARK, b"", {"label": "unreachable", "reason": "refused"})
    assert seen(RUNNING, more(conversation(HANDSHAKE[-1]), mark))[:1] == DIED


@pytest.mark.parametrize("method", ["ping", "tools/list", "no/such/method"])
def test_request_without_an_answer_in_time_is_reported(method: str) -> None:
    trace = more(stdio_trace(*OPENED, (">", request(7, method))), silence(7))
    assert SILENT in seen(ANSWERED, trace)


@pytest.mark.parametrize(
    ("turns", "frames"),
    [
        pytest.param([*OPENED, (">", request(7, "tools/call", name="slow"))], [silence(7)], id="slow tool"),
        pytest.param([(">", request(7, "tools/list"))], [silence(7)], id="before the handshake"),
        pytest.param([(">", request(1, "initialize"))], [silence(1)], id="still starting"),
        pytest.param([*OPENED, (">", request(None, "ping"))], [silence(None)], id="id null"),
        pytest.param([*OPENED, (">", request(7, "ping"))], [exited()], id="process exited"),
        pytest.param([*OPENED, (">", request(7, "ping"))], [], id="not waited for"),
        pytest.param([*OPENED, (">", request(7, "x", pad="x" * 70_000))], [silence(7)], id="very large"),
        pytest.param(
            [*OPENED, ("<", request("q", "elicitation/create")), (">", request(7, "ping"))],
            [silence(7)],
            id="the server waits for the driver",
        ),
        pytest.param(
            [
                *OPENED,
                (">", request(7, "tools/list")),
                (
                    ">",
                    {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7}},
                ),
            ],
            [silence(7)],
            id="cancelled",
        ),
    ],
)
def test_request_that_may_stay_unanswered_is_not_reported(turns: Any, frames: Any) -> None:
    assert SILENT not in seen(ANSWERED, more(stdio_trace(*turns), *frames))


@pytest.mark.parametrize(("status", "silent"), [(202, True), (200, True), (404, False), (503, False)])
def test_http_response_without_a_message_answers_nothing_unless_its_status_refuses(
    status: int, silent: bool
) -> None:
    trace = conversation(
        HANDSHAKE[-1],
        Said(request(1, "initialize"), 200, result(1, protocolVersion="x")),
        Said(request(7, "tools/list"), status),
    )
    assert (SILENT in seen(ANSWERED, trace)) is silent
