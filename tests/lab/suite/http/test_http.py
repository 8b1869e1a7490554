"""Checks of HTTP on conversations written by hand."""

from typing import Any

import pytest

from assay.lab.suite.http.sessions import differing
from assay.revisions.registry import ASSUMED, HANDSHAKE
from tests.lab.suite.conversation import Said, conversation, error
from tests.lab.suite.judging import seen
from tests.lab.traces import request, result

NEWEST = HANDSHAKE[-1]
PING = request(1, "ping")
PONG = result(1)
NOTICE = {"jsonrpc": "2.0", "method": "notifications/x"}
EVIL = {"Origin": "http://evil.example"}


@pytest.mark.parametrize(
    ("headers", "status", "rows"),
    [
        (EVIL, 403, [("HTTP-02", True), ("HTTP-03", True)]),
        (EVIL, 400, [("HTTP-02", True), ("HTTP-03", False)]),
        (EVIL, 200, [("HTTP-02", False), ("HTTP-03", False)]),
        ({"Origin": "http://localhost.evil.example"}, 403, [("HTTP-02", True), ("HTTP-03", True)]),
        ({**EVIL, "Host": "evil.example"}, 421, [("HTTP-02", True)]),
        ({"Origin": "http://[::1]:3000"}, 200, []),
        ({"Origin": "http://localhost:3000"}, 403, []),
    ],
)
def test_only_foreign_origins_are_judged(headers: dict[str, str], status: int, rows: Any) -> None:
    trace = conversation(NEWEST, Said(PING, answer=PONG), Said(PING, status, headers=headers))
    assert seen("http.foreign-origin", trace) == rows


def test_who_may_come_to_a_public_server_is_not_judged() -> None:
    public = {"Host": "mcp.example"}
    trace = conversation(NEWEST, Said(PING, headers=public), Said(PING, headers={**public, **EVIL}))
    assert seen("http.foreign-origin", trace) == []


@pytest.mark.parametrize(
    ("status", "rows"),
    [(405, [("HTTP-02", True)]), (200, [("HTTP-02", False), ("HTTP-03", False)])],
)
def test_get_that_is_declined_needs_no_403(status: int, rows: Any) -> None:
    trace = conversation(NEWEST, Said(PING, answer=PONG), Said(None, status, method="GET", headers=EVIL))
    assert seen("http.foreign-origin", trace) == rows


@pytest.mark.parametrize(
    ("said", "rows"),
    [
        (Said(NOTICE, 202), [("HTTP-10", True)]),
        (Said(NOTICE, 202, b"ok"), [("HTTP-10", False)]),
        (Said(NOTICE, 204), [("HTTP-10", False)]),
        (Said(NOTICE, 400), [("HTTP-11", True)]),
        (Said(NOTICE, 200, error(None, -32600)), [("HTTP-11", False)]),
        # A malformed message is not a notification.
        (Said({**NOTICE, "jsonrpc": "1.0"}, 200, error(None, -32600)), []),
        (Said(PONG, 202), [("HTTP-10", True)]),
        (Said([NOTICE, PONG], 202), [("HTTP-10", True)]),
        (Said([NOTICE, PING], 200, PONG), []),
        (Said(PING, 200, PONG), []),
        (Said(None, 405, method="GET"), []),
    ],
)
def test_what_needs_no_answer_is_accepted_or_refused(said: Said, rows: Any) -> None:
    assert seen("http.accepted-notification", conversation(NEWEST, said)) == rows


def in_session(said: Said) -> Said:
    return Said(said.body, said.status, said.answer, said.method, {"Mcp-Session-Id": "a", **said.headers})


@pytest.mark.parametrize(
    ("said", "rows"),
    [
        (Said(PING, 404), [("HTTP-41", True)]),
        (Said(PING, 400), [("HTTP-41", False)]),
        (Said(PING, 405), [("HTTP-41", False)]),
        (Said(None, 405, method="GET"), []),
        (Said(None, 200, method="GET"), [("HTTP-41", False)]),
    ],
)
def test_ended_session_is_gone(said: Said, rows: Any) -> None:
    ended = in_session(Said(None, 204, method="DELETE"))
    assert seen("http.session-rules", conversation(NEWEST, ended, in_session(said))) == rows
    kept = in_session(Said(None, 405, method="DELETE"))
    assert seen("http.session-rules", conversation(NEWEST, kept, in_session(said))) == []


@pytest.mark.parametrize(
    ("said", "rows"),
    [
        (Said(PING, 400), [("HTTP-40", True)]),
        (Said(PING, 401), [("HTTP-40", False)]),
        (Said(PING, 200, PONG), []),
        (Said(request(1, "initialize"), 500), []),
        (Said(NOTICE, 404), []),
    ],
)
def test_missing_session_is_judged_where_one_is_required(said: Said, rows: Any) -> None:
    assert seen("http.session-rules", conversation(NEWEST, said)) == rows


@pytest.mark.parametrize(
    ("one", "other", "stretch"),
    [
        ("session-1", "session-2", 1),
        ("9", "10", 2),
        ("same", "same", 0),
        ("", "abc", 3),
        ("aXb", "aYYb", 2),
        ("aa", "aaa", 1),
        ("0b2f7d5a-77f1", "c41e09aa-1b62", 13),
    ],
)
def test_ids_are_compared_by_what_is_not_common(one: str, other: str, stretch: int) -> None:
    assert differing(one, other) == differing(other, one) == stretch


def opened(session: str | None) -> Said:
    given = {} if session is None else {"Mcp-Session-Id": session}
    return Said(request(1, "initialize"), 200, result(1), given=given)


def test_session_ids_are_visible_and_not_alike() -> None:
    trace = conversation(NEWEST, opened("0b2f7d5a77f1"), opened("with space"), opened(None))
    rows = [("HTTP-37", True), ("HTTP-37", False), ("HTTP-36", True)]
    assert seen("http.session-id", trace) == rows


@pytest.mark.parametrize(
    ("version", "said", "rows"),
    [
        (None, Said(PING, 200, PONG), [("HTTP-46", True)]),
        (None, Said(PING, 400), [("HTTP-46", False)]),
        (None, Said(request(1, "initialize"), 400), []),
        ("odd", Said(PING, 400), [("HTTP-47", True)]),
        ("odd", Said(PING, 200, error(1, -32600)), [("HTTP-47", False)]),
        ("odd", Said(None, 405, method="GET"), []),
        ("odd", Said(None, 200, method="GET"), [("HTTP-47", False)]),
        (NEWEST.date, Said(PING, 400), []),
        (ASSUMED.date, Said(PING, 400), []),
    ],
)
def test_version_header_is_judged_by_what_it_names(version: str | None, said: Said, rows: Any) -> None:
    headers = {} if version is None else {"MCP-Protocol-Version": version}
    said = Said(said.body, said.status, said.answer, said.method, headers)
    assert seen("http.bad-version-header", conversation(NEWEST, said)) == rows
