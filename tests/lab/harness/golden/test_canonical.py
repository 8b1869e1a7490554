"""Canonical frames: what may differ is named or left out, every other byte is as it was."""

import json
from typing import Any

import pytest

from assay.lab.harness.golden.canonical import canonical
from assay.lab.harness.golden.frame_difference import frame_differences
from assay.lab.harness.golden.normaliser import (
    BUILT_IN,
    ENDPOINT,
    LEFT_OUT,
    QUESTIONS,
    VALUES,
    Method,
    Volatile,
)
from assay.lab.harness.trace.frame import Frame, Header, Kind, Sender
from assay.lab.harness.trace.trace import Trace
from assay.revisions.registry import HANDSHAKE
from tests.lab.traces import http_trace, request, result, stdio_trace

POST = ">", "1/post-1", Kind.REQUEST


def differences(before: Trace, after: Trace, *extra: Volatile) -> list[str]:
    found = frame_differences(canonical(before, extra), canonical(after, extra))
    return [f"{one.at}: {one.before} / {one.after}" for one in found]


def raws(trace: Trace) -> list[bytes]:
    return [frame.raw for frame in canonical(trace).trace.frames]


def exchange(head: bytes, body: bytes, sent: bytes = b"") -> Trace:
    return http_trace(
        [
            (*POST, b"POST /mcp HTTP/1.1\r\nHost: localhost:1\r\n" + sent + b"\r\n"),
            ("<", "1/post-1", Kind.HEAD, b"HTTP/1.1 200 OK\r\n" + head + b"\r\n"),
            ("<", "1/post-1", Kind.BODY, body),
            ("<", "1/post-1", Kind.END, b""),
        ]
    )


def test_every_normaliser_has_a_name_of_its_own_and_a_reason() -> None:
    declared: list[Any] = [*VALUES, *LEFT_OUT, *BUILT_IN, QUESTIONS, ENDPOINT]
    assert len({one.name for one in declared}) == len(declared)
    assert all(one.reason for one in declared)


def test_named_values_keep_their_relations() -> None:
    def paging(*cursors: str) -> Trace:
        first, second, used = cursors
        return stdio_trace(
            (">", request(1, "tools/list")),
            ("<", result(1, tools=[], nextCursor=first)),
            (">", request(2, "tools/list", cursor=used)),
            ("<", result(2, tools=[], nextCursor=second)),
        )

    assert not differences(paging("a", "b", "a"), paging("x1", "y", "x1"))
    assert differences(paging("a", "b", "a"), paging("x1", "y", "y"))
    assert differences(paging("a", "b", "a"), paging("x1", "x1", "x1"))


def test_a_value_of_another_type_is_a_difference() -> None:
    before = stdio_trace((">", request(1, "tools/list")), ("<", result(1, nextCursor="a")))
    after = stdio_trace((">", request(1, "tools/list")), ("<", result(1, nextCursor=7)))
    assert differences(before, after) == [
        '/result/nextCursor: "(cursor 1)" / "(cursor 1, a number)"',
    ]


@pytest.mark.parametrize(
    "reply",
    [
        b'{"jsonrpc":"2.0","id":1,"result":{"x":"b"}}\n',
        b'{"jsonrpc":"2.0","id":1,"result":{"x": "a"}}\n',
        b'{"jsonrpc":"2.0","id":1,"result":{"x":"\\u0061"}}\n',
        b'{"jsonrpc":"2.0","result":{"x":"a"},"id":1}\n',
        b'{"jsonrpc":"2.0","id":1,"result":{"x":"a"}}\r\n',
        b'{"jsonrpc":"2.0","id":1,"result":{"x":"a"}',
        b"nothing of that\n",
        b"\xff\n",
    ],
)
def test_any_changed_byte_is_a_difference(reply: bytes) -> None:
    asked = (">", request(1, "ping"))
    before = stdio_trace(asked, ("<", b'{"jsonrpc":"2.0","id":1,"result":{"x":"a"}}\n'))
    assert not differences(before, before)
    assert differences(before, stdio_trace(asked, ("<", reply)))


def test_heads_differ_by_their_headers_save_those_of_one_exchange() -> None:
    before = exchange(b"Date: Mon\r\nContent-Type: application/json\r\nContent-Length: 2\r\n", b"{}")
    later = exchange(b"Date: Tue\r\nContent-Type: application/json\r\nContent-Length: 2\r\n", b"{}")
    other = exchange(b"Date: Mon\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n", b"{}")
    assert not differences(before, later)
    (found,) = differences(before, other)
    assert found.startswith("header Content-Type: Content-Type: application/json / Content-Type: text/plain")


def test_content_length_is_only_compared_where_it_is_wrong() -> None:
    right, longer = exchange(b"Content-Length: 2\r\n", b"{}"), exchange(b"Content-Length: 3\r\n", b"{ }")
    wrong = exchange(b"Content-Length: 9\r\n", b"{}")
    assert differences(right, longer) == ["byte 1: '{}' / '{ }'"]
    assert differences(right, wrong)[0].startswith("header Content-Length")


def test_sessions_and_ports_are_named() -> None:
    def session(name: bytes) -> Trace:
        return exchange(b"Mcp-Session-Id: " + name + b"\r\n", b"{}", b"Mcp-Session-Id: " + name + b"\r\n")

    assert raws(session(b"abc"))[0] == (
        b"POST /mcp HTTP/1.1\r\nHost: (address)\r\nMcp-Session-Id: (session id 1)\r\n\r\n"
    )
    assert not differences(session(b"abc"), session(b"defg"))


def test_events_are_named_by_id_and_read_through_their_data() -> None:
    def stream(number: bytes, text: bytes, *more: bytes) -> Trace:
        frames = [
            (*POST, b"POST /mcp HTTP/1.1\r\n\r\n"),
            ("<", "1/post-1", Kind.HEAD, b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"),
            ("<", "1/post-1", Kind.EVENT, b": alive\n\n"),
            ("<", "1/post-1", Kind.EVENT, b"id: " + number + b'\ndata: {"a":\ndata: "' + text + b'"}\n\n'),
            *(("<", "1/post-1", Kind.EVENT, one) for one in more),
        ]
        return http_trace(frames)

    assert raws(stream(b"7", b"x"))[-1] == b'id: (event id 1)\ndata: {"a":\ndata: "x"}\n\n'
    assert not differences(stream(b"7", b"x"), stream(b"8", b"x"))
    assert differences(stream(b"7", b"x"), stream(b"7", b"y")) == ['/a: "x" / "y"']
    assert not differences(stream(b"7", b"x"), stream(b"7", b"x", b"data: more\n\n")), "it was left open"


def test_answers_to_requests_at_once_have_no_order() -> None:
    asked = [(">", request(1, "a")), (">", request(2, "b"))]
    one, two = ("<", result(1, x=1)), ("<", result(2, x=2))
    notice = ("<", {"jsonrpc": "2.0", "method": "notifications/message"})
    assert not differences(stdio_trace(*asked, one, notice, two), stdio_trace(*asked, two, one, notice))
    assert differences(stdio_trace(*asked, one, two), stdio_trace(*asked, one, two, two))


def test_notifications_have_an_order() -> None:
    first, second = ("<", {"jsonrpc": "2.0", "method": "x"}), ("<", {"jsonrpc": "2.0", "method": "y"})
    assert differences(stdio_trace(first, second), stdio_trace(second, first))


def test_questions_of_the_server_are_named_by_their_order() -> None:
    def asking(number: Any, answered: Any) -> Trace:
        return stdio_trace(("<", request(number, "roots/list")), (">", result(answered, roots=[])))

    assert not differences(asking(1, 1), asking(5, 5))
    assert differences(asking(1, 1), asking(5, 1))


def test_sentinels_and_standard_error_are_left_out() -> None:
    plain = stdio_trace((">", request(1, "ping")), ("<", result(1)))
    asked = stdio_trace(
        (">", request(1, "ping")),
        ("<", result(1)),
        (">", request("sentinel-1-1", "ping")),
        ("<", result("sentinel-1-1")),
    )
    noisy = Trace(
        plain.header, [*plain.frames, Frame(2, 0.1, Sender.SUBJECT, "1/errors", Kind.ERRORS, b"at 12:01\n")]
    )
    assert not differences(plain, asked)
    assert not differences(plain, noisy)
    assert canonical(noisy).touched["standard error"] == 1


def test_the_rest_is_not_missed_where_the_driver_hung_up_early() -> None:
    asked = [(">", b"rubbish\n"), (">", request("sentinel-1-1", "ping"))]
    refusal = ("<", {"jsonrpc": "2.0", "error": {"code": -32700, "message": "no"}})
    waited = stdio_trace(*asked, refusal, refusal, ("<", result("sentinel-1-1")))
    hung_up = stdio_trace(*asked, refusal)
    assert not differences(waited, hung_up)
    assert differences(waited, stdio_trace(*asked, refusal, ("<", result("sentinel-1-1"))))


def test_a_missing_and_a_new_frame_are_told_as_that() -> None:
    frames = [("<", {"jsonrpc": "2.0", "method": f"m{number}"}) for number in range(3)]
    whole, less = stdio_trace(*frames), stdio_trace(frames[0], frames[2])
    assert differences(whole, less)[0].startswith("the frame is missing: ← ")
    assert differences(less, whole)[0].startswith("the frame is new: nothing / ← ")


def test_declared_values_of_a_users_own_are_ignored() -> None:
    def built(number: object) -> Trace:
        return stdio_trace((">", request(1, "ping")), ("<", result(1, meta={"build": number}, x="a")))

    rule = Volatile("build", "counts up", Method.IGNORE, pointers=("/**/build",))
    assert differences(built(1), built(2)) == ["/result/meta/build: 1 / 2"]
    assert not differences(built(1), built(2), rule)
    assert differences(built(1), built("2"), rule)
    assert canonical(built(1), [rule]).touched["build"] == 1


def test_canonical_frames_are_canonical() -> None:
    trace = exchange(
        b"Mcp-Session-Id: x\r\nDate: now\r\nContent-Length: 25\r\n", b'{"result":{"nextCursor":7}}'
    )
    once = canonical(trace)
    twice = canonical(once.trace)
    assert twice.trace.frames == once.trace.frames
    assert twice.trace.header == once.trace.header


def test_batches_are_read_member_by_member() -> None:
    def batch(cursor: str) -> Trace:
        return stdio_trace(("<", [result(1, nextCursor=cursor), result(2)]))

    assert not differences(batch("a"), batch("b"))
    line = json.loads(canonical(batch("a")).trace.frames[0].raw)
    assert line[0]["result"]["nextCursor"] == "(cursor 1)"


def test_answers_over_http_are_told_apart_by_their_questions() -> None:
    def answering(*order: int) -> Trace:
        asked = b"".join(b"data: " + json.dumps(request(n, "roots/list")).encode() + b"\n\n" for n in (1, 2))
        head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
        posts = [
            (
                ">",
                f"1/post-{place}",
                Kind.REQUEST,
                b"POST / HTTP/1.1\r\n\r\n" + json.dumps(result(n)).encode(),
            )
            for place, n in enumerate(order, 2)
        ]
        blocks = [("<", "1/post-1", Kind.EVENT, one + b"\n\n") for one in asked.split(b"\n\n") if one]
        return http_trace(
            [(*POST, b"POST / HTTP/1.1\r\n\r\n"), ("<", "1/post-1", Kind.HEAD, head), *blocks, *posts]
        )

    assert not differences(answering(1, 2), answering(2, 1))
    assert differences(answering(1, 2), answering(1))


def test_endpoint_of_two_endpoints_is_named() -> None:
    def told(path: str) -> Trace:
        head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
        return http_trace(
            [
                (">", "1/sse", Kind.REQUEST, b"GET /sse HTTP/1.1\r\n\r\n"),
                ("<", "1/sse", Kind.HEAD, head),
                ("<", "1/sse", Kind.EVENT, f"event: endpoint\ndata: {path}\n\n".encode()),
                (">", "1/post-1", Kind.REQUEST, f"POST {path} HTTP/1.1\r\n\r\n".encode()),
            ]
        )

    assert not differences(told("/m?s=1"), told("/m?s=2"))
    assert canonical(told("/m?s=1")).touched[ENDPOINT.name] == 2


def test_header_tells_nothing_of_when_and_where() -> None:
    header = Header(HANDSHAKE[-1].date, "http", "http://localhost:4711/mcp", "a.b", "now", closed=True)
    bare = canonical(Trace(header, [])).trace.header
    assert (bare.subject, bare.started, bare.closed) == ("http://(address)/mcp", "", True)
