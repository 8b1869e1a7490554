"""Checks of progress and logging on traces written by hand."""

import json
from typing import Any

import pytest

from assay.lab.harness.driver.message_meta import LOG_LEVEL_KEY, SUBSCRIPTION_KEY
from assay.lab.harness.trace.frame import Kind
from assay.lab.harness.trace.trace import Trace
from assay.revisions.registry import PER_REQUEST
from tests.lab.suite.judging import seen
from tests.lab.traces import http_trace, request, result, stdio_trace

STATELESS = PER_REQUEST[-1]
DECLARED = [(">", request("d", "server/discover")), ("<", result("d", capabilities={"logging": {}}))]


def told(token: Any, value: Any, **more: Any) -> tuple[str, dict[str, Any]]:
    params = {"progressToken": token, "progress": value, **more}
    return "<", {"jsonrpc": "2.0", "method": "notifications/progress", "params": params}


def asked(number: Any, token: Any = None, level: Any = None) -> tuple[str, dict[str, Any]]:
    meta = {"progressToken": token, LOG_LEVEL_KEY: level}
    given = {key: value for key, value in meta.items() if value is not None}
    return ">", request(number, "tools/call", _meta=given)


def log(level: str = "info", **meta: Any) -> tuple[str, dict[str, Any]]:
    params = {"level": level, "data": "x", **({"_meta": meta} if meta else {})}
    return "<", {"jsonrpc": "2.0", "method": "notifications/message", "params": params}


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([0, 0.5, 1], [True, True]),
        ([1, 1], [False]),
        ([2, 1], [False]),
        ([1], []),
        (["1", 2, True], []),
    ],
)
def test_progress_increases_strictly(values: list[Any], expected: list[bool]) -> None:
    trace = stdio_trace(asked(1, "t"), *(told("t", value) for value in values))
    assert [holds for row, holds in seen("utilities.progress-values", trace)] == expected


def test_progress_of_another_token_or_of_a_new_request_begins_anew() -> None:
    trace = stdio_trace(asked(1, 1), told(1, 5), told("1", 2), ("<", result(1)), asked(2, 1), told(1, 1))
    assert seen("utilities.progress-values", trace) == []


@pytest.mark.parametrize(("text", "holds"), [("half of it", True), (" ", False), (3, False)])
def test_the_message_of_progress_says_something(text: Any, holds: bool) -> None:
    trace = stdio_trace(asked(1, 1), told(1, 5, message=text))
    assert seen("utilities.progress-values", trace) == [("PRG-06", holds)]


@pytest.mark.parametrize(
    ("given", "told_as", "expected"),
    [
        ("t", "t", [("PRG-01", True), ("PRG-04", True), ("PRG-05", True)]),
        (7, "7", [("PRG-01", True), ("PRG-04", False)]),
        (7, 7.0, [("PRG-01", False), ("PRG-04", False)]),
        (None, 1, [("PRG-01", True), ("PRG-04", False)]),
    ],
)
def test_progress_names_the_token_that_was_given(
    given: Any, told_as: Any, expected: list[tuple[str, bool]]
) -> None:
    trace = stdio_trace(asked(1, given), told(told_as, 1))
    assert seen("utilities.progress-tokens", trace) == expected


def test_progress_after_the_answer_is_found() -> None:
    trace = stdio_trace(asked(1, "t"), ("<", result(1)), told("t", 1))
    assert ("PRG-05", False) in seen("utilities.progress-tokens", trace)


def test_tokens_of_the_servers_own_requests_are_unique_while_they_wait() -> None:
    one, two = (request(name, "ping", _meta={"progressToken": "t"}) for name in "ab")
    waiting = stdio_trace(("<", one), ("<", two))
    assert ("PRG-02", False) in seen("utilities.progress-tokens", waiting)
    answered = stdio_trace(("<", one), (">", result("a")), ("<", two))
    assert ("PRG-02", False) not in seen("utilities.progress-tokens", answered)


def levelled(*turns: tuple[str, Any]) -> list[bool]:
    setting = [(">", request(1, "logging/setLevel", level="error")), ("<", result(1))]
    return [holds for _, holds in seen("utilities.log-level", stdio_trace(*setting, *turns))]


def test_after_setting_a_level_less_is_not_sent() -> None:
    assert levelled(log("warning")) == [False]
    assert levelled(log("error"), log("emergency")) == [True, True]
    assert levelled(log("loud")) == []


def test_while_a_level_is_being_set_nothing_is_judged() -> None:
    assert levelled((">", request(2, "logging/setLevel", level="debug")), log("debug")) == []
    refused = {"jsonrpc": "2.0", "id": 2, "error": {"code": -32602, "message": "no"}}
    bad = [(">", request(2, "logging/setLevel", level="loud")), ("<", refused)]
    assert levelled(*bad, log("debug")) == [False]


@pytest.mark.parametrize(
    ("session", "expected"), [(b"Mcp-Session-Id: s\r\n", [("LOG-02", False)]), (b"", [])]
)
def test_without_a_session_no_level_is_remembered(session: bytes, expected: list[Any]) -> None:
    def post(channel: str, message: dict[str, Any]) -> tuple[str, str, Kind, bytes]:
        head = b"POST / HTTP/1.1\r\n" + session + b"\r\n"
        return ">", channel, Kind.REQUEST, head + json.dumps(message).encode()

    def event(channel: str, message: dict[str, Any]) -> tuple[str, str, Kind, bytes]:
        return "<", channel, Kind.EVENT, b"data: %b\n\n" % json.dumps(message).encode()

    trace = http_trace(
        [
            post("1/post-1", request(1, "logging/setLevel", level="error")),
            event("1/post-1", result(1)),
            post("1/post-2", request(2, "tools/call")),
            event("1/post-2", log("info")[1]),
        ]
    )
    assert seen("utilities.log-level", trace) == expected


def on_demand(*turns: tuple[str, Any]) -> Trace:
    return stdio_trace(*turns, revision=STATELESS)


LISTENING = (">", request("l", "subscriptions/listen", notifications={}))


@pytest.mark.parametrize(
    ("turns", "expected"),
    [
        ([asked(1, level="info"), log(), ("<", result(1))], [("LOG-06", True), ("LOG-07", True)]),
        ([asked(1, level="error"), log(), ("<", result(1))], [("LOG-06", False), ("LOG-07", True)]),
        ([asked(1, level="info"), ("<", result(1)), log()], [("LOG-06", False)]),
        ([asked(1), log(), ("<", result(1))], [("LOG-05", False)]),
        ([asked(1), ("<", result(1))], [("LOG-05", True)]),
        # Two at once: it may belong to the one that wants it.
        ([asked(1), asked(2, level="info"), log(), ("<", result(1))], [("LOG-06", True), ("LOG-07", True)]),
        ([LISTENING, log()], [("LOG-07", False)]),
        ([LISTENING, asked(1, level="info"), log(**{SUBSCRIPTION_KEY: "l"})], [("LOG-07", False)]),
        ([LISTENING, asked(1, level="info"), log()], [("LOG-06", True), ("LOG-07", True)]),
    ],
)
def test_log_messages_go_to_the_request_that_wants_them(
    turns: list[tuple[str, Any]], expected: list[tuple[str, bool]]
) -> None:
    assert seen("utilities.log-on-demand", on_demand(*turns)) == expected


def test_whoever_logs_has_declared_it() -> None:
    assert seen("utilities.log-declared", on_demand(*DECLARED, log())) == [("LOG-01", True)]
    silent = [DECLARED[0], ("<", result("d", capabilities={}))]
    assert seen("utilities.log-declared", on_demand(*silent, log())) == [("LOG-01", False)]
    assert seen("utilities.log-declared", on_demand(log())) == []
