"""What public servers do, by hand: things that a check once held against them, and should not have."""

import json
from typing import Any

from assay.lab.harness.trace.frame import Frame, Header, Kind, Sender
from assay.lab.harness.trace.trace import Trace
from assay.revisions.registry import REVISIONS
from assay.revisions.revision import Batching, Opening
from tests.lab.suite.judging import seen
from tests.lab.traces import http_trace, probed, request, result, stdio_trace

WITH_BATCHES = next(one for one in REVISIONS if one.batching is Batching.ACCEPTED)
ALONE = next(one for one in REVISIONS if one.opening is Opening.PER_REQUEST)
OK = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n"
ACCEPTED = b"HTTP/1.1 202 Accepted\r\ncontent-type: application/json\r\ncontent-length: 0\r\n\r\n"


def posted(message: Any) -> bytes:
    return b"POST /mcp HTTP/1.1\r\nHost: localhost\r\n\r\n" + json.dumps(message).encode()


def accepted(message: Any) -> Trace:
    """A message, taken with 202 and nothing more."""
    frames = [(">", "1/post-1", Kind.REQUEST, posted(message)), ("<", "1/post-1", Kind.HEAD, ACCEPTED)]
    return http_trace([*frames, ("<", "1/post-1", Kind.END, b"")])


def test_message_with_an_object_for_an_id_is_no_request_that_must_be_answered() -> None:
    assert seen("streams.answer-type", accepted(request({"an": "object"}, "ping"))) == []
    assert seen("streams.answer-type", accepted(request(1, "ping"))) == [("HTTP-12", False)]


def silent(*sent: Any) -> Trace:
    """Pings with id 1 that the scenario has waited for in vain, then one that is answered."""
    frames = stdio_trace(*((">", message) for message in sent), (">", request(2, "ping")), ("<", result(2)))
    mark = {"label": "no answer", "id": 1}
    lost = Frame(len(frames.frames), 1.0, Sender.DRIVER, "1/lines", Kind.MARK, b"", mark)
    return Trace(
        Header(WITH_BATCHES.date, "stdio", "by hand", "by-hand", closed=True), [*frames.frames, lost]
    )


def test_ping_in_a_batch_that_is_not_taken_says_nothing_about_ping() -> None:
    assert seen("lifecycle.ping", silent([request(1, "ping")])) == [("PNG-01", True)]
    assert ("PNG-01", False) in seen("lifecycle.ping", silent(request(1, "ping")))


def unsubscribed(*before: tuple[str, Any]) -> Trace:
    """An update of `a:b` where nothing is subscribed to any more."""
    update = {"jsonrpc": "2.0", "method": "notifications/resources/updated", "params": {"uri": "a:b"}}
    return probed(stdio_trace(*before, ("<", update)), "unsubscribed")


def test_update_of_what_was_never_subscribed_to_is_no_subscription_that_went_on() -> None:
    ended = ((">", request(1, "resources/unsubscribe", uri="a:b")), ("<", result(1)))
    assert seen("resources.subscriptions", unsubscribed()) == []
    assert seen("resources.subscriptions", unsubscribed(*ended)) == [("RS-03", True), ("RS-03", False)]


def answered(number: int, method: str, **content: Any) -> list[tuple[str, str, Kind, bytes]]:
    """A request with its result, on HTTP."""
    channel, reply = f"1/post-{number}", json.dumps(result(number, **content)).encode()
    return [
        (">", channel, Kind.REQUEST, posted(request(number, method))),
        ("<", channel, Kind.HEAD, OK),
        ("<", channel, Kind.BODY, reply),
        ("<", channel, Kind.END, b""),
    ]


def test_status_of_an_unknown_method_is_not_asked_of_a_method_that_is_answered() -> None:
    described = answered(1, "server/discover", capabilities={"tools": {}})
    listed = http_trace([*described, *answered(2, "prompts/list", prompts=[])], ALONE)
    assert seen("jsonrpc.unknown-method", listed) == [("BASE-26", False)]
    made_up = http_trace([*described, *answered(2, "no/such/method")], ALONE)
    assert seen("jsonrpc.unknown-method", made_up) == [("BASE-26", False), ("HTTP-52", False)]
