"""Frames order the messages of one channel; across HTTP responses an answer in between is needed as proof."""

import json
from typing import Any

from assay.lab.harness.trace.frame import Kind
from assay.lab.harness.trace.message import LEVELS, severity
from assay.lab.harness.trace.order import is_later, open_requests
from assay.lab.harness.trace.trace import Trace
from tests.lab.traces import http_trace, request, result, stdio_trace

NOTICE = {"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "x"}}
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"


def test_on_one_channel_frames_determine_order_and_open_requests() -> None:
    trace = stdio_trace(
        (">", request(1, "tools/call")),
        (">", request(2, "ping")),
        ("<", result(2)),
        ("<", NOTICE),
        ("<", result(1)),
    )
    pong, notice, answer = trace.received
    assert is_later(notice, pong, trace) and is_later(answer, notice, trace)
    assert not is_later(pong, notice, trace) and not is_later(pong, pong, trace)
    assert [exchange.method for exchange in open_requests(notice, trace)] == ["tools/call"]


def post(channel: str, message: dict[str, Any]) -> tuple[str, str, Kind, bytes]:
    return ">", channel, Kind.REQUEST, b"POST /mcp HTTP/1.1\r\n\r\n" + json.dumps(message).encode()


def event(channel: str, message: dict[str, Any]) -> tuple[str, str, Kind, bytes]:
    return "<", channel, Kind.EVENT, b"data: %b\n\n" % json.dumps(message).encode()


def test_across_responses_only_an_answer_in_between_proves_the_order() -> None:
    head = ("<", "1/get-1", Kind.HEAD, HEAD)
    begun = [head, post("1/post-2", request(1, "tools/call")), event("1/post-2", result(1))]
    trace = http_trace([*begun, event("1/get-1", NOTICE)])
    answer, notice = trace.received
    assert not is_later(notice, answer, trace)
    between = [post("1/post-3", request(2, "ping")), event("1/post-3", result(2))]
    trace = http_trace([*begun, *between, event("1/get-1", NOTICE)])
    answer, _, notice = trace.received
    assert is_later(notice, answer, trace)


def test_message_on_the_response_to_a_later_request_is_later_and_belongs_to_it() -> None:
    trace: Trace = http_trace(
        [
            post("1/post-1", request(1, "tools/call")),
            event("1/post-1", result(1)),
            post("1/post-2", request(2, "tools/call")),
            post("1/post-3", request(3, "tools/call")),
            event("1/post-2", NOTICE),
        ]
    )
    answer, notice = trace.received
    assert is_later(notice, answer, trace)
    assert [exchange.request.id for exchange in open_requests(notice, trace)] == [2]


def test_levels_are_ordered_and_invalid_levels_have_no_rank() -> None:
    assert [severity(level) for level in LEVELS] == list(range(8))
    assert severity("loud") is severity(3) is severity([]) is None
