"""Canonical frames: volatile values are replaced or omitted, every other byte stays."""

import json
from typing import Any

import pytest

from assay.lab.harness.golden.canonical import canonical
from assay.lab.harness.golden.frame_difference import frame_differences
from assay.lab.harness.golden.normaliser import (
    BUILT_IN,
    ENDPOINT,
    OMITTED,
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
    return [
        f"{difference.at}: {difference.before} / {difference.after}"
        for difference in frame_differences(canonical(before, extra), canonical(after, extra))
    ]


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


def test_every_normaliser_has_a_unique_name_and_a_reason() -> None:
    declared: list[Any] = [*VALUES, *OMITTED, *BUILT_IN, QUESTIONS, ENDPOINT]
    assert len({rule.name for rule in declared}) == len(declared)
    assert all(rule.reason for rule in declared)


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
    ping = (">", request(1, "ping"))
    before = stdio_trace(ping, ("<", b'{"jsonrpc":"2.0","id":1,"result":{"x":"a"}}\n'))
    assert not differences(before, before)
    assert differences(before, stdio_trace(ping, ("<", reply)))


def test_heads_differ_by_headers_that_are_not_volatile() -> None:
    before = exchange(b"Date: Mon\r\nContent-Type: application/json\r\nContent-Length: 2\r\n", b"{}")
    later = exchange(b"Date: Tue\r\nContent-Type: application/json\r\nContent-Length: 2\r\n", b"{}")
    other = exchange(b"Date: Mon\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n", b"{}")
    assert not differences(before, later)
    (difference,) = differences(before, other)
    assert difference.startswith("header Content-Type: Content-Type: application/json / Content-Type: text")


def test_content_length_is_only_compared_if_wrong() -> None:
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


def test_event_ids_are_named_and_the_data_is_compared() -> None:
    def stream(number: bytes, text: bytes, *blocks: bytes) -> Trace:
        frames = [
            (*POST, b"POST /mcp HTTP/1.1\r\n\r\n"),
            ("<", "1/post-1", Kind.HEAD, b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"),
            ("<", "1/post-1", Kind.EVENT, b": alive\n\n"),
            ("<", "1/post-1", Kind.EVENT, b"id: " + number + b'\ndata: {"a":\ndata: "' + text + b'"}\n\n'),
            *(("<", "1/post-1", Kind.EVENT, block) for block in blocks),
        ]
        return http_trace(frames)

    assert raws(stream(b"7", b"x"))[-1] == b'id: (event id 1)\ndata: {"a":\ndata: "x"}\n\n'
    assert not differences(stream(b"7", b"x"), stream(b"8", b"x"))
    assert differences(stream(b"7", b"x"), stream(b"7", b"y")) == ['/a: "x" / "y"']
    assert not differences(stream(b"7", b"x"), stream(b"7", b"x", b"data: more\n\n")), "the stream is open"


def test_answers_to_concurrent_requests_have_no_order() -> None:
    requests = [(">", request(1, "a")), (">", request(2, "b"))]
    first, second = ("<", result(1, x=1)), ("<", result(2, x=2))
    notice = ("<", {"jsonrpc": "2.0", "method": "notifications/message"})
    before, after = [*requests, first, notice, second], [*requests, second, first, notice]
    assert not differences(stdio_trace(*before), stdio_trace(*after))
    repeated = stdio_trace(*requests, first, second, second)
    assert differences(stdio_trace(*requests, first, second), repeated)


def test_notifications_have_an_order() -> None:
    first, second = ("<", {"jsonrpc": "2.0", "method": "x"}), ("<", {"jsonrpc": "2.0", "method": "y"})
    assert differences(stdio_trace(first, second), stdio_trace(second, first))


def test_ids_of_server_requests_are_named_by_their_order() -> None:
    def asking(number: Any, answered: Any) -> Trace:
        return stdio_trace(("<", request(number, "roots/list")), (">", result(answered, roots=[])))

    assert not differences(asking(1, 1), asking(5, 5))
    assert differences(asking(1, 1), asking(5, 1))


def test_sentinels_and_standard_error_are_omitted() -> None:
    plain = stdio_trace((">", request(1, "ping")), ("<", result(1)))
    with_sentinel = stdio_trace(
        (">", request(1, "ping")),
        ("<", result(1)),
        (">", request("sentinel-1-1", "ping")),
        ("<", result("sentinel-1-1")),
    )
    noisy = Trace(
        plain.header, [*plain.frames, Frame(2, 0.1, Sender.SUBJECT, "1/errors", Kind.ERRORS, b"at 12:01\n")]
    )
    assert not differences(plain, with_sentinel)
    assert not differences(plain, noisy)
    assert canonical(noisy).applied["standard error"] == 1


def test_frames_after_an_early_disconnect_are_not_compared() -> None:
    sent = [(">", b"rubbish\n"), (">", request("sentinel-1-1", "ping"))]
    refusal = ("<", {"jsonrpc": "2.0", "error": {"code": -32700, "message": "no"}})
    complete = stdio_trace(*sent, refusal, refusal, ("<", result("sentinel-1-1")))
    assert not differences(complete, stdio_trace(*sent, refusal))
    assert differences(complete, stdio_trace(*sent, refusal, ("<", result("sentinel-1-1"))))


def test_missing_and_new_frames_are_reported_as_such() -> None:
    frames = [("<", {"jsonrpc": "2.0", "method": f"m{number}"}) for number in range(3)]
    whole, less = stdio_trace(*frames), stdio_trace(frames[0], frames[2])
    assert differences(whole, less)[0].startswith("the frame is missing: ← ")
    assert differences(less, whole)[0].startswith("the frame is new: nothing / ← ")


def test_values_that_the_user_declares_are_ignored() -> None:
    def built(number: object) -> Trace:
        return stdio_trace((">", request(1, "ping")), ("<", result(1, meta={"build": number}, x="a")))

    rule = Volatile("build", "counts up", Method.IGNORE, pointers=("/**/build",))
    assert differences(built(1), built(2)) == ["/result/meta/build: 1 / 2"]
    assert not differences(built(1), built(2), rule)
    assert differences(built(1), built("2"), rule)
    assert canonical(built(1), [rule]).applied["build"] == 1


def test_canonical_form_is_idempotent() -> None:
    trace = exchange(
        b"Mcp-Session-Id: x\r\nDate: now\r\nContent-Length: 25\r\n", b'{"result":{"nextCursor":7}}'
    )
    once = canonical(trace)
    twice = canonical(once.trace)
    assert twice.trace.frames == once.trace.frames
    assert twice.trace.header == once.trace.header


def test_values_in_batches_are_named() -> None:
    def batch(cursor: str) -> Trace:
        return stdio_trace(("<", [result(1, nextCursor=cursor), result(2)]))

    assert not differences(batch("a"), batch("b"))
    line = json.loads(canonical(batch("a")).trace.frames[0].raw)
    assert line[0]["result"]["nextCursor"] == "(cursor 1)"


def test_answers_over_http_are_matched_by_their_requests() -> None:
    def answering(*order: int) -> Trace:
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
        requests = [json.dumps(request(n, "roots/list")).encode() for n in (1, 2)]
        blocks = [("<", "1/post-1", Kind.EVENT, b"data: " + data + b"\n\n") for data in requests]
        return http_trace(
            [(*POST, b"POST / HTTP/1.1\r\n\r\n"), ("<", "1/post-1", Kind.HEAD, head), *blocks, *posts]
        )

    assert not differences(answering(1, 2), answering(2, 1))
    assert differences(answering(1, 2), answering(1))


def test_endpoint_of_http_sse_is_named() -> None:
    def stream(path: str) -> Trace:
        head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
        return http_trace(
            [
                (">", "1/sse", Kind.REQUEST, b"GET /sse HTTP/1.1\r\n\r\n"),
                ("<", "1/sse", Kind.HEAD, head),
                ("<", "1/sse", Kind.EVENT, f"event: endpoint\ndata: {path}\n\n".encode()),
                (">", "1/post-1", Kind.REQUEST, f"POST {path} HTTP/1.1\r\n\r\n".encode()),
            ]
        )

    assert not differences(stream("/m?s=1"), stream("/m?s=2"))
    assert canonical(stream("/m?s=1")).applied[ENDPOINT.name] == 2


def test_header_has_neither_time_nor_address() -> None:
    header = Header(HANDSHAKE[-1].date, "http", "http://localhost:4711/mcp", "a.b", "now", closed=True)
    bare = canonical(Trace(header, [])).trace.header
    assert (bare.subject, bare.started, bare.closed) == ("http://(address)/mcp", "", True)
