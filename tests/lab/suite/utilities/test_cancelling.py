"""Checks of cancellation on traces written by hand."""

import json
from typing import Any

import pytest

from assay.lab.harness.trace.frame import Kind
from assay.revisions.registry import PER_REQUEST
from tests.lab.suite.judging import seen
from tests.lab.traces import http_trace, request, result, stdio_trace

STATELESS = PER_REQUEST[-1]
Turn = tuple[str, dict[str, Any]]
PING: list[Turn] = [(">", request("p", "ping")), ("<", result("p"))]
LAST: list[Turn] = [(">", request("q", "ping")), ("<", result("q"))]


def call(number: int, name: str = "slow") -> Turn:
    return ">", request(number, "tools/call", name=name)


def cancel(number: Any, who: str = ">") -> Turn:
    params = {"requestId": number}
    return who, {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}


def failed(number: int) -> Turn:
    return "<", {"jsonrpc": "2.0", "id": number, "error": {"code": 0, "message": "cancelled"}}


@pytest.mark.parametrize(
    ("turns", "expected"),
    [
        # Another like it was done since, and something after that: the first was stopped.
        ([call(1), cancel(1), call(2), ("<", result(2)), *LAST], [True]),
        # Nothing shows that it would have been done by now.
        ([call(1), cancel(1), *LAST], []),
        ([call(1), cancel(1), call(2, "other"), ("<", result(2)), *LAST], []),
        # The cancellation was read, since what came after it was answered; so was the call.
        ([call(1), cancel(1), *PING, ("<", result(1))], [False]),
        # The answer may have been on its way.
        ([call(1), cancel(1), ("<", result(1)), *PING], []),
        # An error that the same call does not have otherwise is about the cancellation.
        ([call(1), cancel(1), failed(1), call(2), ("<", result(2))], [False]),
        ([call(1), cancel(1), failed(1), call(2), failed(2)], []),
        ([call(1), ("<", result(1)), cancel(1), *PING], []),
    ],
)
def test_a_cancelled_request_is_not_answered(turns: list[Turn], expected: list[bool]) -> None:
    found = seen("utilities.cancelled-request", stdio_trace(*turns))
    assert [holds for _, holds in found] == expected


def test_over_http_a_cancellation_needs_a_session() -> None:
    def trace(session: bytes) -> list[tuple[str, bool]]:
        frames = []
        for number, (who, message) in enumerate([call(1), cancel(1), *PING]):
            body = json.dumps(message).encode()
            head = b"POST / HTTP/1.1\r\n" + session + b"\r\n"
            kind, raw = (
                (Kind.REQUEST, head + body) if who == ">" else (Kind.EVENT, b"data: " + body + b"\n\n")
            )
            channel = f"1/post-{number if who == '>' else number - 1}"
            frames.append((who, channel, kind, raw))
        frames.append(("<", "1/post-0", Kind.EVENT, b"data: %b\n\n" % json.dumps(result(1)).encode()))
        return seen("utilities.cancelled-request", http_trace(frames))

    assert trace(b"Mcp-Session-Id: s\r\n") == [("CAN-06", False)]
    assert trace(b"") == []


@pytest.mark.parametrize(
    ("turns", "expected"),
    [
        ([cancel(1), *PING], [True, True]),
        ([cancel(1), failed(1), *PING], [False, True]),
        ([cancel(1), (">", request("p", "ping")), ("<", {"id": "p", "error": {"code": 1}})], [True, False]),
        # Other requests may fail for reasons of their own.
        ([cancel(1), call(2), failed(2)], [True]),
        ([cancel(2), *PING], []),
    ],
)
def test_a_late_cancellation_does_no_harm(turns: list[Turn], expected: list[bool]) -> None:
    found = seen("utilities.late-cancellation", stdio_trace(call(1), ("<", result(1)), *turns))
    assert [holds for _, holds in found] == expected


def test_a_server_cancels_what_it_asked_and_nothing_of_its_client() -> None:
    asked = ("<", request("s", "sampling/createMessage"))
    assert seen("utilities.own-cancellation", stdio_trace(asked, cancel("s", "<"))) == [("CAN-01", True)]
    assert seen("utilities.own-cancellation", stdio_trace(call(1), cancel(1, "<"))) == [("CAN-01", False)]


def test_where_servers_ask_nothing_only_listen_streams_are_cancelled() -> None:
    listening = (">", request(1, "subscriptions/listen", notifications={}))
    trace = stdio_trace(listening, cancel(1, "<"), revision=STATELESS)
    assert seen("utilities.own-cancellation", trace) == [("CAN-13", True)]
    trace = stdio_trace(call(1), cancel(1, "<"), revision=STATELESS)
    assert seen("utilities.own-cancellation", trace) == [("CAN-13", False)]
