"""Order on one channel is plain; across HTTP responses it must be proved by an answer in between."""

import json
from typing import Any

from assay.lab.harness.trace.frame import Kind
from assay.lab.harness.trace.log_level import LEVELS, severity
from assay.lab.harness.trace.order import is_later, open_requests
from assay.lab.harness.trace.trace import Trace
from tests.lab.traces import http_trace, request, result, stdio_trace

NOTICE = {"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "x"}}
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"


def test_on_one_channel_frames_tell_the_order_and_what_is_open() -> None:
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
    assert [one.method for one in open_requests(notice, trace)] == ["tools/call"]


def asked(channel: str, message: dict[str, Any]) -> tuple[str, str, Kind, bytes]:
    return ">", channel, Kind.REQUEST, b"POST /mcp HTTP/1.1\r\n\r\n" + json.dumps(message).encode()


def said(channel: str, message: dict[str, Any]) -> tuple[str, str, Kind, bytes]:
    return "<", channel, Kind.EVENT, b"data: %b\n\n" % json.dumps(message).encode()


def test_across_responses_only_an_answer_in_between_proves_the_order() -> None:
    head = ("<", "1/get-1", Kind.HEAD, HEAD)
    begun = [head, asked("1/post-2", request(1, "tools/call")), said("1/post-2", result(1))]
    trace = http_trace([*begun, said("1/get-1", NOTICE)])
    answer, notice = trace.received
    assert not is_later(notice, answer, trace)
    between = [asked("1/post-3", request(2, "ping")), said("1/post-3", result(2))]
    trace = http_trace([*begun, *between, said("1/get-1", NOTICE)])
    answer, _, notice = trace.received
    assert is_later(notice, answer, trace)


def test_what_comes_on_the_response_to_a_later_request_is_later_and_belongs_to_it() -> None:
    trace: Trace = http_trace(
        [
            asked("1/post-1", request(1, "tools/call")),
            said("1/post-1", result(1)),
            asked("1/post-2", request(2, "tools/call")),
            asked("1/post-3", request(3, "tools/call")),
            said("1/post-2", NOTICE),
        ]
    )
    answer, notice = trace.received
    assert is_later(notice, answer, trace)
    assert [one.request.id for one in open_requests(notice, trace)] == [2]


def test_levels_are_ordered_and_rubbish_has_none() -> None:
    assert [severity(level) for level in LEVELS] == list(range(8))
    assert severity("loud") is severity(3) is severity([]) is None
