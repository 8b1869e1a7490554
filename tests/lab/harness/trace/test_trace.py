"""A trace groups frames into messages, exchanges, HTTP calls and probes."""

from assay.lab.harness.trace.frame import Frame, Header, Kind, Sender
from assay.lab.harness.trace.message import Shape, same_id
from assay.lab.harness.trace.trace import PROBE, PROBED, Trace
from tests.lab.traces import http_trace, request, result, stdio_trace

JSON_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n"
SSE_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
POST = b"POST /mcp HTTP/1.1\r\nHost: x\r\n\r\n"


def test_answers_are_matched_to_requests_in_any_order() -> None:
    trace = stdio_trace(
        (">", request(1, "a")), (">", request(2, "b")), ("<", result(2)), ("<", result(1)), ("<", result(3))
    )
    assert [(exchange.method, exchange.answer and exchange.answer.id) for exchange in trace.exchanges()] == [
        ("a", 1),
        ("b", 2),
    ]
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
    assert [(message.method, message.problem is None) for message in trace.messages] == [
        ("a", True),
        ("", True),
        ("", False),
    ]
    assert {message.frame.n for message in trace.messages} == {1}


def test_members_of_a_batch_are_messages() -> None:
    trace = stdio_trace((">", [request(1, "a"), request(2, "b")]), ("<", [result(2), result(1)]))
    assert [len(exchange.answers) for exchange in trace.exchanges()] == [1, 1]
    assert [message.place for message in trace.messages] == [0, 1, 0, 1]


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
    assert [message.shape for message in call.messages] == [Shape.NOTIFICATION]


def test_probe_holds_the_traffic_between_its_marks_without_the_sentinel() -> None:
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
    assert [message.method for message in probe.sent] == ["n"]
    assert [message.id for message in probe.answers] == [None]
    assert list(Trace(trace.header, frames[:-1]).probes("x")) == []


def test_an_empty_batch_is_a_message_with_a_problem() -> None:
    trace = stdio_trace((">", []), ("<", b"[]\n"))
    assert [(message.by_subject, message.problem) for message in trace.messages] == [
        (False, "an empty batch"),
        (True, "an empty batch"),
    ]


def test_body_of_an_http_error_counts_as_spoken_only_with_jsonrpc() -> None:
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
    assert [message.frame.n for message in trace.received] == [2, 5]
    assert [message.frame.n for message in trace.rpc_messages] == [5]
