"""Sessions that a client ends: what DELETE may answer, and what then holds of the session."""

import pytest

from assay.lab.harness.trace.trace import Trace
from tests.lab.everything.observing import broken, seen
from tests.lab.everything.talking import over_http

CHECK = "server-session-lifecycle"
DELETED, GONE = "server-session-delete-accepted", "server-session-terminated-returns-404"
PING = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'
POST = "POST /mcp HTTP/1.1\nHost: a\nMcp-Session-Id: s"
DELETE = "DELETE /mcp HTTP/1.1\nHost: a\nMcp-Session-Id: s"


def ended(before: str, delete: str, after: str) -> Trace:
    return over_http((POST, PING, before, b""), (DELETE, b"", delete, b""), (POST, PING, after, b""))


@pytest.mark.parametrize(
    ("delete", "after", "rows"),
    [
        ("200 OK", "404 Gone", set()),
        ("204 No Content", "404 Gone", set()),
        ("404 Gone", "404 Gone", set()),
        ("200 OK", "200 OK", {GONE}),
        ("200 OK", "400 Bad", {GONE}),
        ("404 Gone", "200 OK", {DELETED}),
        ("500 Oh", "404 Gone", {DELETED}),
    ],
)
def test_ended_session_is_gone(delete: str, after: str, rows: set[str]) -> None:
    assert broken(CHECK, ended("200 OK", delete, after)) == rows


def test_server_that_lets_nobody_end_sessions_shows_nothing() -> None:
    assert seen(CHECK, ended("200 OK", "405 No", "200 OK")) == []


def test_session_that_was_never_served_proves_nothing_by_being_gone() -> None:
    assert seen(CHECK, ended("404 Gone", "200 OK", "404 Gone")) == []
