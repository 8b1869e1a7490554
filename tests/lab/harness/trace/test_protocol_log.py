"""The protocol as INFO entries beside the checks."""

import json

import pytest

from assay.lab.harness.trace import protocol_log
from assay.lab.harness.trace.frame import Frame, Header, Kind, Sender
from assay.lab.harness.trace.protocol_log import INCOMING, OUTGOING, log_entries
from assay.lab.harness.trace.trace import Trace
from assay.revisions.registry import HANDSHAKE

STARTED = "2000-01-01T00:00:00.000Z"
ASKED = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}).encode()
ANSWERED = json.dumps({"jsonrpc": "2.0", "id": 1, "result": {}}).encode()
HTTP = (
    (
        Sender.SUBJECT,
        "1/post-1",
        Kind.REQUEST,
        b"POST /mcp?x=1 HTTP/1.1\r\nHost: a\r\nX-One: 1\r\n\r\n" + ASKED,
    ),
    (Sender.DRIVER, "1/post-1", Kind.HEAD, b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"),
    (Sender.DRIVER, "1/post-1", Kind.EVENT, b"data: " + ANSWERED + b"\n\n"),
    (Sender.DRIVER, "1/post-1", Kind.END, b""),
)


def trace_of(*frames: tuple[Sender, str, Kind, bytes], started: str = STARTED) -> Trace:
    header = Header(HANDSHAKE[-1].date, "http", "x", "x", started, role="client")
    return Trace(header, [Frame(n, n + 0.5, *frame) for n, frame in enumerate(frames)])


def test_requests_and_responses_are_told_in_order_and_nothing_else() -> None:
    entries = list(log_entries(trace_of(*HTTP)))
    assert [entry["id"] for entry in entries] == [INCOMING, OUTGOING, OUTGOING]
    assert {entry["status"] for entry in entries} == {"INFO"}


def test_request_has_method_path_headers_body_and_what_it_asks() -> None:
    entry, *_ = log_entries(trace_of(*HTTP))
    about = entry["details"]
    assert (about["method"], about["path"], about["mcpMethod"]) == ("POST", "/mcp?x=1", "tools/list")
    assert about["headers"] == {"Host": "a", "X-One": "1"}
    assert about["body"].encode() == ASKED
    assert entry["description"] == "POST /mcp?x=1 tools/list"
    assert entry["timestamp"] == "2000-01-01T00:00:00.500Z"


def test_response_has_status_and_headers_and_then_its_messages() -> None:
    _, head, event = log_entries(trace_of(*HTTP))
    assert head["details"]["statusCode"] == 200
    assert head["details"]["headers"] == {"Content-Type": "text/event-stream"}
    assert ANSWERED.decode() in event["details"]["body"]


@pytest.mark.parametrize(("kind", "end"), [(Kind.LINE, b"\n"), (Kind.TEXT, b"")])
def test_without_http_each_message_is_an_entry(kind: Kind, end: bytes) -> None:
    sent, received = (Sender.SUBJECT, "1/x", kind, ASKED + end), (Sender.DRIVER, "1/x", kind, ANSWERED + end)
    asked, answered = log_entries(trace_of(sent, received))
    assert (asked["id"], asked["details"]["mcpMethod"]) == (INCOMING, "tools/list")
    assert (answered["id"], answered["details"]["body"].encode()) == (OUTGOING, ANSWERED + end)


def test_long_and_odd_bodies_are_told_as_far_as_they_go(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protocol_log, "LONGEST", 4)
    (entry,) = log_entries(trace_of((Sender.SUBJECT, "1/lines", Kind.LINE, b"\xff" * 10), started="then"))
    assert entry["details"]["body"] == "\N{REPLACEMENT CHARACTER}" * 4 + "… (10 bytes)"
    assert entry["timestamp"] == "then"
