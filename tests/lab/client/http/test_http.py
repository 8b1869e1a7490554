"""Checks of the HTTP requests of clients on traces written by hand."""

import json
from typing import Any

import pytest

from assay.lab.harness.trace.frame import Kind
from assay.lab.harness.trace.trace import Trace
from assay.revisions.revision import Revision
from tests.lab.client.judging import INITIALIZE, META, NEW, OLD, READY, WELCOME, verdicts
from tests.lab.traces import http_trace, request

JSON = "Content-Type: application/json"
Turn = tuple[str, list[str], Any, str, Any]
"""Method, headers, message, response head, response message."""


def exchanged(*turns: Turn, revision: Revision = OLD) -> Trace:
    frames = []
    for number, (method, headers, message, head, answer) in enumerate(turns):
        channel = f"1/{method.lower()}-{number}"
        start = "\r\n".join([f"{method} /mcp HTTP/1.1", "Host: x", *headers]) + "\r\n\r\n"
        body = b"" if message is None else json.dumps(message).encode()
        frames.append(("<", channel, Kind.REQUEST, start.encode("latin-1") + body))
        frames.append((">", channel, Kind.HEAD, f"HTTP/1.1 {head}\r\n\r\n".encode()))
        if answer is not None:
            frames.append((">", channel, Kind.BODY, json.dumps(answer).encode()))
    return http_trace(frames, revision)


def opened(*headers: str) -> Turn:
    return "POST", list(headers), INITIALIZE, f"200 OK\r\n{JSON}\r\nMcp-Session-Id: one", WELCOME


def posted(message: Any, *headers: str, status: str = "202 Accepted") -> Turn:
    return "POST", list(headers), message, status, None


@pytest.mark.parametrize(
    ("headers", "holds"), [(["Mcp-Session-Id: one"], True), (["mcp-session-id: two"], False), ([], False)]
)
def test_a_session_is_named_once_it_is_given(headers: list[str], holds: bool) -> None:
    assert verdicts("http.session-named", "HTTP-38", exchanged(opened(), posted(READY, *headers))) == [holds]


def test_a_new_session_is_begun_without_a_name() -> None:
    lost = posted(request(1, "tools/list"), "Mcp-Session-Id: one", status="404 Not Found")
    again = exchanged(opened(), lost, opened())
    assert verdicts("http.session-lost", "HTTP-42", again) == [True]
    kept = exchanged(opened(), lost, opened("Mcp-Session-Id: one"))
    assert verdicts("http.session-lost", "HTTP-42", kept) == [False]


@pytest.mark.parametrize(
    ("accept", "holds"),
    [
        (["Accept: application/json, text/event-stream"], True),
        (["Accept: text/event-stream;q=0.9", "accept: Application/JSON"], True),
        (["Accept: */*"], False),
        (["Accept: application/json"], False),
        ([], False),
    ],
)
def test_a_post_takes_both_kinds_of_answer(accept: list[str], holds: bool) -> None:
    assert verdicts("http.posts", "HTTP-07", exchanged(posted(READY, *accept))) == [holds]


def test_a_batch_is_no_message() -> None:
    for row in ("HTTP-06", "HTTP-08"):
        assert verdicts("http.posts", row, exchanged(posted([READY, READY]))) == [False]


@pytest.mark.parametrize(
    ("version", "named", "right"),
    [(OLD.date, True, [True]), ("2024-11-05", True, [False]), (None, False, [])],
)
def test_the_agreed_version_is_named(version: str | None, named: bool, right: list[bool]) -> None:
    headers = [] if version is None else [f"MCP-Protocol-Version: {version}"]
    trace = exchanged(opened(), posted(READY, *headers))
    assert verdicts("http.agreed-version", "HTTP-44", trace) == [named]
    assert verdicts("http.agreed-version", "HTTP-45", trace) == right


@pytest.mark.parametrize(
    ("given", "row", "holds"),
    [
        ("work", "HTTP-55", True),
        ("=?base64?d29yaw==?=", "HTTP-55", True),
        ("Work", "HTTP-55", False),
        (None, "HTTP-55", False),
    ],
)
def test_the_name_of_a_tool_is_in_the_head(given: str | None, row: str, holds: bool) -> None:
    call = request(1, "tools/call", name="work", arguments={}, _meta=META)
    headers = [] if given is None else [f"Mcp-Name: {given}"]
    assert verdicts("http.mirrored", row, exchanged(posted(call, *headers), revision=NEW)) == [holds]


def test_a_handshake_describes_nothing() -> None:
    trace = exchanged(opened(), revision=NEW)
    assert not verdicts("http.mirrored", "HTTP-48", trace)
    assert not verdicts("http-standard-headers", "sep-2243-client-includes-standard-headers", trace)
