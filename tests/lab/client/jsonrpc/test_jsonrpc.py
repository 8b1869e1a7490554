"""Checks of the messages of clients on traces written by hand: what they find, and what they leave alone."""

from typing import Any

import pytest

from assay.lab.harness.trace.frame import Kind
from assay.lab.harness.trace.trace import Trace
from assay.revisions.revision import Revision
from tests.lab.client.judging import INITIALIZE, NEW, OLD, WELCOME, verdicts
from tests.lab.traces import http_trace, request, result, stdio_trace

FRESH = "jsonrpc.fresh-ids"
LIST = request(1, "tools/list")
LISTED = result(1, tools=[])
TOLD = {"jsonrpc": "2.0", "method": "notifications/lab"}
NAMELESS = {"jsonrpc": "2.0", "error": {"code": -32603, "message": "no"}}
REFUSED = b"HTTP/1.1 401 Unauthorized\r\n\r\n"
POST = b"POST /mcp HTTP/1.1\r\nHost: x\r\n\r\n"
CALL = b'{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}'


def session(*turns: tuple[str, Any], revision: Revision = OLD) -> Trace:
    return stdio_trace(("<", INITIALIZE), (">", WELCOME), *turns, revision=revision)


def test_an_id_that_was_answered_is_still_used_in_a_session() -> None:
    again = session(("<", LIST), (">", LISTED), ("<", LIST))
    assert verdicts(FRESH, "BASE-04", again)[-1] is False


def test_what_http_turned_away_may_come_again_under_its_id() -> None:
    again = http_trace(
        [
            ("<", "1/post-1", Kind.REQUEST, POST + CALL),
            (">", "1/post-1", Kind.HEAD, REFUSED),
            ("<", "1/post-2", Kind.REQUEST, POST + CALL),
        ],
        NEW,
    )
    assert False not in verdicts(FRESH, "BASE-05", again)


def test_an_id_is_free_again_once_its_request_is_answered_where_there_is_no_session() -> None:
    again = stdio_trace(("<", LIST), (">", LISTED), ("<", LIST), revision=NEW)
    assert False not in verdicts(FRESH, "BASE-05", again)


def test_an_id_is_free_again_once_its_request_is_given_up() -> None:
    cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}
    again = stdio_trace(("<", LIST), ("<", cancel), ("<", LIST), revision=NEW)
    assert False not in verdicts(FRESH, "BASE-05", again)


def test_an_id_of_a_request_under_way_is_taken() -> None:
    assert verdicts(FRESH, "BASE-05", stdio_trace(("<", LIST), ("<", LIST), revision=NEW)) == [True, False]


@pytest.mark.parametrize(
    ("heard", "row"),
    [((">", request("a", "ping")), "BASE-09"), ((">", TOLD), "BASE-10")],
    ids=["a request", "a notification"],
)
def test_a_nameless_error_is_an_answer_to_what_came_before(heard: tuple[str, Any], row: str) -> None:
    assert verdicts("jsonrpc.nameless", row, session(heard, ("<", NAMELESS)))[-1] is False


def test_a_nameless_error_is_right_where_nothing_could_be_read() -> None:
    spoiled = session((">", b"this is no JSON\n"), (">", TOLD), ("<", NAMELESS))
    for row in ("BASE-09", "BASE-10"):
        assert False not in verdicts("jsonrpc.nameless", row, spoiled)


def test_answers_to_nothing_are_found() -> None:
    assert verdicts("jsonrpc.answers", "BASE-06", session(("<", result("unheard-of")))) == [False]


@pytest.mark.parametrize(("body", "holds"), [(b'{"a": "\xfc"}\n', False), (b'{"a": "\\u00fc"}\n', True)])
def test_other_characters_are_utf_8_or_escaped(body: bytes, holds: bool) -> None:
    assert verdicts("jsonrpc.utf8", "BASE-12", session(("<", body))) == [holds]


@pytest.mark.parametrize(
    ("message", "revision", "holds"),
    [
        (request(1, "tools/call", name="a", arguments={}), OLD, True),
        (request(1, "tools/call", name="a", arguments=[]), OLD, False),
        (request(1, "tools/call", arguments={}), OLD, False),
        (request(1, "tools/list", cursor=None), OLD, False),
    ],
)
def test_requests_fit_the_official_types(message: Any, revision: Revision, holds: bool) -> None:
    assert verdicts("jsonrpc.wire-shape", "SHAPE-01", stdio_trace(("<", message), revision=revision)) == [
        holds
    ]
