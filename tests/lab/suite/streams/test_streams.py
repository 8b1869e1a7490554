"""Checks of streams on conversations written by hand."""

from typing import Any

import pytest

from assay.lab.harness.driver.message_meta import SUBSCRIPTION_KEY
from assay.lab.harness.trace.frame import Frame, Header, Kind, Sender
from assay.lab.harness.trace.trace import Trace
from assay.revisions.registry import HANDSHAKE, PER_REQUEST, REVISIONS
from tests.lab.suite.conversation import Said, conversation, event
from tests.lab.suite.judging import seen
from tests.lab.traces import request, result

OLDEST, NEWEST = HANDSHAKE[0], HANDSHAKE[-1]
MIDDLE = HANDSHAKE[1]
PER = PER_REQUEST[-1]
PING = request(1, "ping")
PONG = result(1)
SSE = {"Content-Type": "text/event-stream"}


def listening(*blocks: bytes, after: str | None = None, **more: Any) -> Said:
    headers = {} if after is None else {"Last-Event-ID": after}
    return Said(None, 200, list(blocks), method="GET", headers=headers, over=False, **more)


def progress(token: Any, step: int = 1) -> dict[str, Any]:
    params = {"progressToken": token, "progress": step}
    return {"jsonrpc": "2.0", "method": "notifications/progress", "params": params}


def with_token(number: int, token: Any) -> dict[str, Any]:
    return request(number, "tools/call", _meta={"progressToken": token})


@pytest.mark.parametrize(
    ("said", "holds"),
    [
        (Said(PING, 200, PONG), True),
        (Said(PING, 200, [event(PONG)]), True),
        (Said(PING, 200, b'[{"jsonrpc":"2.0","id":1,"result":{}}]'), False),
        (Said(PING, 200, b'{"jsonrpc":"2.0"}{"jsonrpc":"2.0"}'), False),
        (Said(PING, 200, b"pong", given={"Content-Type": "text/plain"}), False),
        (Said(PING, 202), False),
        (Said([PING], 200, b'[{"jsonrpc":"2.0","id":1,"result":{}}]'), True),
    ],
)
def test_answer_is_one_object_or_a_stream(said: Said, holds: bool) -> None:
    assert seen("streams.answer-type", conversation(MIDDLE, said)) == [("HTTP-12", holds)]


@pytest.mark.parametrize(
    ("revision", "said", "rows"),
    [
        (MIDDLE, Said(PING, answer=[event(PONG)]), {"HTTP-14": True, "HTTP-16": True, "HTTP-17": True}),
        (PER, Said(PING, answer=[event(PONG)], held=True), {"HTTP-17": False}),
        (PER, Said(PING, answer=[event(PONG)], over=False), {}),
        (MIDDLE, Said(PING, answer=[event()]), {"HTTP-14": False, "HTTP-16": False}),
        (MIDDLE, Said(PING, answer=[event(name="a")]), {"HTTP-16": False}),
        (NEWEST, Said(PING, answer=[event(name="a")]), {"HTTP-25": False}),
        (NEWEST, Said(PING, answer=[event(name="a"), b"retry: 5\n\n"]), {"HTTP-25": True}),
        (NEWEST, Said(PING, answer=[event(name="a")], left=True), {}),
        (MIDDLE, Said(PING, answer=PONG), {}),
    ],
)
def test_stream_brings_the_response_and_ends(revision: Any, said: Said, rows: dict[str, bool]) -> None:
    assert dict(seen("streams.delivery", conversation(revision, said))) == rows


def test_stream_of_a_cancelled_request_may_end_without_a_response() -> None:
    cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}
    trace = conversation(MIDDLE, Said(PING, answer=[event()]), Said(cancel, 202))
    assert seen("streams.delivery", trace) == []


@pytest.mark.parametrize(
    ("revision", "blocks", "given", "rows"),
    [
        (NEWEST, [event(name="a"), event(PONG)], {}, [("HTTP-23", True)]),
        (NEWEST, [b":\n\n", event(name="a")], {}, [("HTTP-23", True)]),
        (NEWEST, [event(PONG, "a")], {}, [("HTTP-23", False)]),
        (NEWEST, [b":\n\n"], {}, []),
        (PER, [event(PONG)], {"X-Accel-Buffering": "no"}, [("HTTP-63", True)]),
        (PER, [event(PONG)], {}, [("HTTP-63", False)]),
    ],
)
def test_how_a_stream_begins(revision: Any, blocks: list[bytes], given: dict[str, str], rows: Any) -> None:
    trace = conversation(revision, Said(PING, answer=blocks, given=given))
    assert seen("streams.opening", trace) == rows


CHANGED = {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}
LOGGED = {"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "x"}}


@pytest.mark.parametrize(
    ("revision", "message", "rows"),
    [
        (MIDDLE, progress("mine"), [("HTTP-15", True)]),
        (MIDDLE, progress("other"), [("HTTP-15", False)]),
        (MIDDLE, progress("unknown"), [("HTTP-15", False)]),
        (MIDDLE, LOGGED, [("HTTP-15", True)]),
        (MIDDLE, CHANGED, [("HTTP-15", True)]),
        (PER, CHANGED, [("HTTP-15", False)]),
    ],
)
def test_stream_of_a_request_tells_of_it(revision: Any, message: Any, rows: Any) -> None:
    said = Said(with_token(1, "mine"), answer=[event(message), event(PONG)])
    trace = conversation(revision, said, Said(with_token(2, "other"), answer=result(2)))
    assert seen("streams.related", trace) == rows


def test_changes_come_where_they_are_listened_for() -> None:
    said = Said(request(1, "subscriptions/listen"), answer=[event(CHANGED)], over=False)
    assert seen("streams.related", conversation(PER, said)) == [("HTTP-15", True)]


@pytest.mark.parametrize(("message", "holds"), [(progress("mine"), False), (CHANGED, True)])
def test_stream_of_no_request_tells_of_none(message: Any, holds: bool) -> None:
    trace = conversation(MIDDLE, Said(with_token(1, "mine"), answer=PONG), listening(event(message)))
    assert seen("streams.related", trace) == [("HTTP-29", holds)]


@pytest.mark.parametrize(
    ("said", "holds"),
    [
        (listening(), True),
        (Said(None, 405, method="GET"), True),
        (Said(None, 404, method="GET"), False),
        (Said(None, 200, b"<p>", method="GET", given={"Content-Type": "text/html"}), False),
    ],
)
def test_get_is_judged_once(said: Said, holds: bool) -> None:
    trace = conversation(NEWEST, said, Said(None, 409, method="GET"))
    assert seen("streams.get-answer", trace) == [("HTTP-28", holds)]


def broken(check: str, trace: Any) -> set[str]:
    return {row for row, holds in seen(check, trace) if not holds}


@pytest.mark.parametrize(
    ("said", "rows"),
    [
        ([Said(PING, answer=PONG), listening(event(CHANGED))], set()),
        ([Said(PING, answer=PONG), listening(event(PONG))], {"HTTP-30", "HTTP-31"}),
        ([Said(PING, 202), listening(event(PONG))], {"HTTP-30"}),
        ([Said(PING, answer=[event(PONG, "a")]), listening(event(PONG), after="a")], set()),
        ([listening(event(progress("a"))), listening(event(progress("a")))], {"HTTP-31"}),
        ([listening(event(progress("a"))), listening(event(progress("a", 2)))], set()),
        ([listening(event(CHANGED)), listening(event(CHANGED))], set()),
        ([listening(event(request("s", "ping"))), listening(event(request("s", "ping")))], {"HTTP-31"}),
    ],
)
def test_message_comes_on_one_stream(said: list[Said], rows: set[str]) -> None:
    assert broken("streams.one-stream", conversation(NEWEST, *said)) == rows


@pytest.mark.parametrize(
    ("said", "holds"),
    [
        ([Said(PING, answer=[event(name="a"), event(PONG, "b")])], True),
        ([Said(PING, answer=[event(name="a"), event(PONG, "a")])], False),
        ([Said(PING, answer=[event(name="a")]), Said(PING, answer=[event(name="a")])], False),
        ([Said(PING, answer=[event(PONG, "a")]), listening(event(PONG, "a"), after="0")], True),
        ([Said(PING, answer=[event(PONG, "a")]), listening(event(CHANGED, "a"), after="0")], False),
        ([Said(PING, answer=[event(PONG, "a")]), listening(event(name="a"))], False),
        ([listening(event(name="a")), listening(event(name="a"))], True),
        ([listening(event(name="a")), listening(event(CHANGED, "a"))], True),
        ([listening(event(CHANGED, "a")), listening(event(LOGGED, "a"))], False),
        ([listening(event(name="")), listening(event(PONG, ""))], True),
    ],
)
def test_event_id_names_one_event(said: list[Said], holds: bool) -> None:
    assert broken("streams.event-ids", conversation(NEWEST, *said)) == (set() if holds else {"HTTP-32"})


ONE = Said(PING, answer=[event(name="1-0"), event(PONG, "1-1")])
OTHER = Said(request(2, "ping"), answer=[event(name="2-0"), event(result(2), "2-1")])
IN_SESSION = ("HTTP-35", True)
"""The stream has no response to a request of another session."""


@pytest.mark.parametrize(
    ("resumed", "rows"),
    [
        (listening(event(PONG), after="1-0"), [IN_SESSION, ("HTTP-35", True)]),
        (listening(after="1-0"), [IN_SESSION, ("HTTP-35", True)]),
        (listening(event(result(2)), after="1-0"), [IN_SESSION, ("HTTP-35", False)]),
        (listening(event(result(3)), after="1-0"), [IN_SESSION, ("HTTP-35", False)]),
        (listening(event(result(2)), after="unknown"), [IN_SESSION]),
        (Said(None, 400, method="GET", headers={"Last-Event-ID": "1-0"}), []),
    ],
)
def test_resumed_stream_keeps_to_itself(resumed: Said, rows: Any) -> None:
    assert seen("streams.resumption", conversation(NEWEST, ONE, OTHER, resumed)) == rows


def about(number: Any) -> dict[str, Any]:
    return {**CHANGED, "params": {"_meta": {SUBSCRIPTION_KEY: number}}}


def test_a_stream_without_its_response_is_a_finding_unless_another_id_differs_only_in_type() -> None:
    lost = Said(request(7, "ping"), answer=[])
    assert {"HTTP-14", "HTTP-16"} <= broken("streams.delivery", conversation(MIDDLE, lost))
    twin = Said(request("7", "ping"), answer=[event(result("7"))])
    assert broken("streams.delivery", conversation(MIDDLE, lost, twin)) == set()


LISTEN = request(7, "subscriptions/listen", _meta={"progressToken": "left"})


@pytest.mark.parametrize(
    ("message", "rows"),
    [
        (result(7), {"HTTP-20"}),
        (about(7), {"HTTP-21"}),
        (progress("left"), {"HTTP-21"}),
        (about(8), set()),
        (progress("other"), set()),
    ],
)
def test_nothing_is_told_of_what_was_hung_up_on(message: Any, rows: set[str]) -> None:
    left = Said(LISTEN, answer=[event(about(7))], left=True)
    trace = conversation(PER, left, Said(PING, answer=[event(message), event(PONG)]))
    assert broken("streams.hang-up", trace) == rows
    # The same id in a request of its own.
    again = conversation(PER, left, Said(request(7, "ping"), answer=result(7)))
    assert broken("streams.hang-up", again) == set()
    stayed = Said(LISTEN, answer=[event(about(7))], over=False)
    assert seen("streams.hang-up", conversation(PER, stayed, Said(PING, answer=PONG))) == []


@pytest.mark.parametrize("revision", REVISIONS)
def test_requests_on_streams_are_judged_where_there_are_none(revision: Any) -> None:
    said = Said(PING, answer=[event(request("s", "ping")), event(PONG)])
    expected = [("HTTP-62", False)] if revision is PER else []
    assert seen("streams.no-requests", conversation(revision, said)) == expected


NAMED = b"event: endpoint\ndata: /messages?session=1\n\n"


@pytest.mark.parametrize(
    ("said", "rows"),
    [
        ([listening(NAMED, event(PONG)), Said(PING, 202)], set()),
        ([listening(NAMED, b"event: ping\ndata: now\n\n")], set()),
        ([listening(NAMED), Said(PING, 405)], {"SSE-01"}),
        ([Said(None, 404, method="GET")], {"SSE-01"}),
        ([listening(event(PONG), NAMED)], {"SSE-02"}),
        ([listening(b'event: endpoint\ndata: {"uri": "/x"}\n\n')], {"SSE-02"}),
        ([listening(NAMED, b"data: ping\n\n")], {"SSE-04"}),
        ([listening(NAMED, b"event: response\n" + event(PONG))], {"SSE-04"}),
    ],
)
def test_two_endpoints(said: list[Said], rows: set[str]) -> None:
    trace = conversation(OLDEST, *said, transport="http-sse")
    assert broken("streams.two-endpoints", trace) == rows


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        (b'{"jsonrpc":"2.0","id":1,"result":{}}', True),
        (b'[{"jsonrpc":"2.0","id":1,"result":{}}]', True),
        (b"connected", False),
        (b'{"jsonrpc":"2.0","id":1,"result":{}}\n{"jsonrpc":"2.0","id":2,"result":{}}', False),
        (b'{"event":"message"}', False),
        (b"[]", False),
    ],
)
def test_text_on_a_websocket_is_a_message(text: bytes, holds: bool) -> None:
    frames = [Frame(0, 0.0, sender, "1/ws", Kind.TEXT, text) for sender in (Sender.DRIVER, Sender.SUBJECT)]
    trace = Trace(Header(NEWEST.date, "ws", "by hand", "by-hand", closed=True), frames)
    assert seen("streams.socket-messages", trace) == [("STD-14", holds)]
