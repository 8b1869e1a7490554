"""Errors without a request: each message that is not a sound request explains one."""

from typing import Any

import pytest

from assay.lab.harness.trace.frame import Kind
from assay.lab.harness.trace.unexplained_error import is_sound, unexplained_errors
from tests.lab.traces import http_trace, request, result, stdio_trace

JSON_HEAD = b"HTTP/1.1 400 Bad Request\r\nContent-Type: application/json\r\n\r\n"
POST = b"POST /mcp HTTP/1.1\r\nHost: x\r\n\r\n"
PING = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'
NAMELESS = b'{"jsonrpc":"2.0","error":{"code":-32600,"message":"no"}}'


def error(**rest: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", **rest, "error": {"code": -32600, "message": "no"}}


@pytest.mark.parametrize(
    ("message", "sound"),
    [
        (request(0, "ping"), True),
        (request("", "ping", a=1), True),
        (request(None, "ping"), False),
        (request(True, "ping"), False),
        (request(1.5, "ping"), False),
        (request(1, ""), False),
        ({**request(1, "ping"), "params": [1]}, False),
        ({**request(1, "ping"), "jsonrpc": "1.0"}, False),
        ({"jsonrpc": "2.0", "method": "ping"}, False),
        (result(1), False),
        ([], False),
        ([request(1, "ping")], False),
        (17, False),
    ],
)
def test_only_a_request_that_can_be_read_is_sound(message: Any, sound: bool) -> None:
    (read,) = stdio_trace((">", message)).messages
    assert is_sound(read) is sound


def test_an_error_that_names_a_message_is_explained() -> None:
    trace = stdio_trace((">", request(1, "a")), (">", {"id": 2}), ("<", error(id=1)), ("<", error(id=2)))
    assert not list(unexplained_errors(trace))


def test_each_unsound_message_explains_one_error() -> None:
    trace = stdio_trace((">", b"rubbish\n"), ("<", error()), ("<", error(id=None)), ("<", error(id="x")))
    assert [message.frame.n for message in unexplained_errors(trace)] == [2, 3]


def test_a_response_explains_no_error_by_its_name() -> None:
    trace = stdio_trace((">", result("mine")), ("<", error(id="mine")), ("<", error(id="mine")))
    assert [message.frame.n for message in unexplained_errors(trace)] == [2]


@pytest.mark.parametrize(
    ("message", "explains"),
    [
        ({"jsonrpc": "2.0", "method": "notifications/a"}, False),
        ({"jsonrpc": "1.0", "method": "notifications/a"}, True),
        ({"jsonrpc": "2.0", "method": "notifications/a", "params": 7}, True),
        ({"jsonrpc": "2.0", "method": 17}, True),
        ([{"jsonrpc": "2.0", "method": "notifications/a"}], True),
    ],
)
def test_only_a_notification_that_can_be_read_must_not_be_refused(message: Any, explains: bool) -> None:
    trace = stdio_trace((">", message), ("<", error(id=None)))
    assert (not list(unexplained_errors(trace))) is explains


def test_on_http_only_the_same_exchange_explains() -> None:
    frames = [
        (">", "1/post-1", Kind.REQUEST, POST + b"rubbish"),
        (">", "1/post-2", Kind.REQUEST, POST + PING),
        ("<", "1/post-1", Kind.HEAD, JSON_HEAD),
        ("<", "1/post-1", Kind.BODY, NAMELESS),
        ("<", "1/post-2", Kind.HEAD, JSON_HEAD),
        ("<", "1/post-2", Kind.BODY, NAMELESS),
    ]
    assert [message.frame.n for message in unexplained_errors(http_trace(frames))] == [5]
