"""Streams that are closed early: what they begin with, and where the answer comes."""

from tests.lab.everything.observing import broken, held, seen
from tests.lab.everything.talking import over_http

CHECK = "server-sse-polling"
POSTED, PRIMED = "server-sse-post-request", "server-sse-priming-event"
RETRY, RESUMED = "server-sse-retry-field", "server-sse-disconnect-resume"
POST, GET = "POST /mcp HTTP/1.1\nHost: a", "GET /mcp HTTP/1.1\nHost: a\nLast-Event-ID: 1"
ASKED = b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"test_reconnection"}}'
STREAM = "200 OK\nContent-Type: text/event-stream"
BEGUN = b"id: 1\ndata: \n\nretry: 500\n\n"
ANSWER = b'data: {"jsonrpc":"2.0","id":1,"result":{"content":[]}}\n\n'
FAILED = b'data: {"jsonrpc":"2.0","id":1,"result":{"content":[],"isError":true}}\n\n'


def test_answer_on_the_stream_that_goes_on_is_well() -> None:
    trace = over_http((POST, ASKED, STREAM, BEGUN), (GET, b"", STREAM, ANSWER))
    assert held(CHECK, trace) == {POSTED, PRIMED, RETRY, RESUMED}


def test_answer_on_the_first_stream_shows_nothing_of_coming_back() -> None:
    assert held(CHECK, over_http((POST, ASKED, STREAM, BEGUN + ANSWER))) == {POSTED, PRIMED, RETRY}


def test_stream_that_begins_with_a_message_is_not_primed() -> None:
    assert broken(CHECK, over_http((POST, ASKED, STREAM, b"retry: 1\nid: 1\n" + ANSWER))) == {PRIMED}


def test_failure_after_coming_back_is_no_answer() -> None:
    trace = over_http((POST, ASKED, STREAM, BEGUN), (GET, b"", STREAM, FAILED))
    assert broken(CHECK, trace) == {RESUMED}


def test_server_without_such_streams_is_not_blamed_for_405() -> None:
    trace = over_http((POST, ASKED, STREAM, BEGUN), (GET, b"", "405 No", b""))
    assert held(CHECK, trace) == {POSTED, PRIMED, RETRY}


def test_answer_as_json_shows_nothing_of_streams() -> None:
    json = "200 OK\nContent-Type: application/json"
    assert seen(CHECK, over_http((POST, ASKED, json, ANSWER[6:].strip()))) == [(POSTED, True)]
