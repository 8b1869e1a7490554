"""What a trace says: who answered what, where, and between which marks."""

from assay.lab.harness.trace.frame import Frame, Header, Kind, Sender
from assay.lab.harness.trace.message import Shape, same_id
from assay.lab.harness.trace.trace import PROBE, PROBED, Trace
from tests.lab.traces import http_trace, request, result, stdio_trace

JSON_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n"
SSE_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
POST = b"POST /mcp HTTP/1.1\r\nHost: x\r\n\r\n"


def test_answers_find_their_requests_in_any_order() -> None:
    trace = stdio_trace(
        (">", request(1, "a")), (">", request(2, "b")), ("<", result(2)), ("<", result(1)), ("<", result(3))
    )
    assert [(one.method, one.answer and one.answer.id) for one in trace.exchanges()] == [("a", 1), ("b", 2)]
    assert [stray.id for stray in trace.strays] == [3]


def test_ids_of_different_types_are_different() -> None:
    trace = stdio_trace((">", request(1, "a")), ("<", result("1")), ("<", result(True)), ("<", result(1.0)))
    (exchange,) = trace.exchanges()
    assert exchange.answers == ()
    assert len(trace.strays) == 3
    assert not same_id(1, True) and same_id("x", "x")


def test_reused_id_gets_the_answers_in_turn() -> None:
    trace = stdio_trace(
        (">", request(1, "a")), ("<", result(1)), (">", request(1, "b")), ("<", result(1, x=1))
    )
    assert [exchange.result for exchange in trace.exchanges()] == [{}, {"x": 1}]


def test_line_in_pieces_is_one_message_and_several_lines_are_several() -> None:
    trace = stdio_trace((">", b'{"jsonrpc":"2.0",'), (">", b'"id":1,"method":"a"}\n{"x":1}\nnot json\n'))
    assert [(one.method, one.problem is None) for one in trace.messages] == [
        ("a", True),
        ("", True),
        ("", False),
    ]
    assert {one.frame.n for one in trace.messages} == {1}


def test_members_of_a_batch_are_messages() -> None:
    trace = stdio_trace((">", [request(1, "a"), request(2, "b")]), ("<", [result(2), result(1)]))
    assert [len(exchange.answers) for exchange in trace.exchanges()] == [1, 1]
    assert [one.place for one in trace.messages] == [0, 1, 0, 1]


def test_http_answer_must_come_on_its_own_response() -> None:
    body = b'{"jsonrpc":"2.0","id":1,"result":{}}'
    trace = http_trace(
        [
            (">", "1/post-1", Kind.REQUEST, POST + b'{"jsonrpc":"2.0","id":1,"method":"a"}'),
            (">", "1/post-2", Kind.REQUEST, POST + b'{"jsonrpc":"2.0","id":2,"method":"b"}'),
            ("<", "1/post-2", Kind.HEAD, JSON_HEAD),
            ("<", "1/post-2", Kind.BODY, body),
        ]
    )
    assert [exchange.answers for exchange in trace.exchanges()] == [(), ()]
    assert [stray.id for stray in trace.strays] == [1]


def test_answer_may_come_on_a_stream_that_resumes() -> None:
    trace = http_trace(
        [
            (">", "1/post-1", Kind.REQUEST, POST + b'{"jsonrpc":"2.0","id":1,"method":"a"}'),
            ("<", "1/get-2", Kind.HEAD, SSE_HEAD),
            ("<", "1/get-2", Kind.EVENT, b'id: 1\ndata: {"jsonrpc":"2.0","id":1,"result":{}}\n\n'),
        ]
    )
    assert [len(exchange.answers) for exchange in trace.exchanges()] == [1]


def test_call_holds_both_heads_the_body_and_its_events() -> None:
    block = b'id: 4\ndata: {"jsonrpc":"2.0","method":"n"}\n\n'
    trace = http_trace(
        [
            (">", "1/post-1", Kind.REQUEST, POST + b'{"jsonrpc":"2.0","id":1,"method":"a"}'),
            ("<", "1/post-1", Kind.HEAD, SSE_HEAD),
            ("<", "1/post-1", Kind.EVENT, b": hello\n\n"),
            ("<", "1/post-1", Kind.EVENT, block),
        ]
    )
    (call,) = trace.calls
    assert (call.sent.method, call.status, call.body) == ("POST", 200, b": hello\n\n" + block)
    assert [event.event_id for _, event in call.events] == ["4"]
    assert [one.shape for one in call.messages] == [Shape.NOTIFICATION]


def test_probe_holds_what_passed_between_its_marks_without_the_sentinel() -> None:
    def frame(n: int, sender: Sender, kind: Kind, raw: bytes = b"", **info: object) -> Frame:
        return Frame(n, 0.0, sender, "1/lines", kind, raw, info)

    sentinel = b'{"jsonrpc":"2.0","id":"sentinel-1-1","method":"ping"}\n'
    frames = [
        frame(0, Sender.SUBJECT, Kind.LINE, b'{"jsonrpc":"2.0","method":"before"}\n'),
        frame(1, Sender.DRIVER, Kind.MARK, label=PROBE, name="x"),
        frame(2, Sender.DRIVER, Kind.LINE, b'{"jsonrpc":"2.0","method":"n"}\n'),
        frame(3, Sender.DRIVER, Kind.LINE, sentinel),
        frame(4, Sender.SUBJECT, Kind.LINE, b'{"jsonrpc":"2.0","id":null,"result":{}}\n'),
        frame(5, Sender.SUBJECT, Kind.LINE, b'{"jsonrpc":"2.0","id":"sentinel-1-1","result":{}}\n'),
        frame(6, Sender.DRIVER, Kind.MARK, label=PROBED, name="x", begin=1),
    ]
    trace = Trace(Header("any", "stdio", "s", "s"), frames)
    (probe,) = trace.probes("x")
    assert [one.method for one in probe.sent] == ["n"]
    assert [one.id for one in probe.answers] == [None]
    assert list(Trace(trace.header, frames[:-1]).probes("x")) == []


def test_an_empty_batch_is_seen() -> None:
    trace = stdio_trace((">", []), ("<", b"[]\n"))
    assert [(one.by_subject, one.problem) for one in trace.messages] == [
        (False, "an empty batch"),
        (True, "an empty batch"),
    ]


def test_the_body_of_an_http_error_is_spoken_only_if_it_says_so() -> None:
    refused = b"HTTP/1.1 404 Not Found\r\nContent-Type: application/json\r\n\r\n"
    trace = http_trace(
        [
            (">", "1/post-1", Kind.REQUEST, POST + b'{"jsonrpc":"2.0","id":1,"method":"a"}'),
            ("<", "1/post-1", Kind.HEAD, refused),
            ("<", "1/post-1", Kind.BODY, b'{"detail":"no such page"}'),
            (">", "1/post-2", Kind.REQUEST, POST + b'{"jsonrpc":"2.0","id":2,"method":"a"}'),
            ("<", "1/post-2", Kind.HEAD, refused),
            ("<", "1/post-2", Kind.BODY, b'{"jsonrpc":"2.0","id":2,"error":{}}'),
        ]
    )
    assert [one.frame.n for one in trace.received] == [2, 5]
    assert [one.frame.n for one in trace.spoken] == [5]
