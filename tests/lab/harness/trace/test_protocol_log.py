"""The protocol as INFO entries beside the checks."""

import json

import pytest

from assay.lab.harness.trace import protocol_log
from assay.lab.harness.trace.frame import Frame, Header, Kind, Sender
from assay.lab.harness.trace.protocol_log import INCOMING, OUTGOING, log_entries
from assay.lab.harness.trace.trace import Trace
from assay.revisions.registry import HANDSHAKE

STARTED = "2000-01-01T00:00:00.000Z"
REQUEST = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}).encode()
REPLY = json.dumps({"jsonrpc": "2.0", "id": 1, "result": {}}).encode()
HTTP = (
    (
        Sender.SUBJECT,
        "1/post-1",
        Kind.REQUEST,
        b"POST /mcp?x=1 HTTP/1.1\r\nHost: a\r\nX-One: 1\r\n\r\n" + REQUEST,
    ),
    (Sender.DRIVER, "1/post-1", Kind.HEAD, b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"),
    (Sender.DRIVER, "1/post-1", Kind.EVENT, b"data: " + REPLY + b"\n\n"),
    (Sender.DRIVER, "1/post-1", Kind.END, b""),
)


def trace_of(*frames: tuple[Sender, str, Kind, bytes], started: str = STARTED) -> Trace:
    header = Header(HANDSHAKE[-1].date, "http", "x", "x", started, role="client")
    return Trace(header, [Frame(n, n + 0.5, *frame) for n, frame in enumerate(frames)])


def test_only_requests_and_responses_are_logged_in_order() -> None:
    entries = list(log_entries(trace_of(*HTTP)))
    assert [entry["id"] for entry in entries] == [INCOMING, OUTGOING, OUTGOING]
    assert {entry["status"] for entry in entries} == {"INFO"}


def test_request_has_method_path_headers_body_and_mcp_method() -> None:
    entry, *_ = log_entries(trace_of(*HTTP))
    details = entry["details"]
    assert (details["method"], details["path"], details["mcpMethod"]) == ("POST", "/mcp?x=1", "tools/list")
    assert details["headers"] == {"Host": "a", "X-One": "1"}
    assert details["body"].encode() == REQUEST
    assert entry["description"] == "POST /mcp?x=1 tools/list"
    assert entry["timestamp"] == "2000-01-01T00:00:00.500Z"


def test_response_has_status_and_headers_and_then_its_messages() -> None:
    _, head, event = log_entries(trace_of(*HTTP))
    assert head["details"]["statusCode"] == 200
    assert head["details"]["headers"] == {"Content-Type": "text/event-stream"}
    assert REPLY.decode() in event["details"]["body"]


@pytest.mark.parametrize(("kind", "end"), [(Kind.LINE, b"\n"), (Kind.TEXT, b"")])
def test_without_http_each_message_is_an_entry(kind: Kind, end: bytes) -> None:
    sent, received = (Sender.SUBJECT, "1/x", kind, REQUEST + end), (Sender.DRIVER, "1/x", kind, REPLY + end)
    request, reply = log_entries(trace_of(sent, received))
    assert (request["id"], request["details"]["mcpMethod"]) == (INCOMING, "tools/list")
    assert (reply["id"], reply["details"]["body"].encode()) == (OUTGOING, REPLY + end)


def test_long_and_invalid_bodies_are_truncated_and_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protocol_log, "LONGEST", 4)
    (entry,) = log_entries(trace_of((Sender.SUBJECT, "1/lines", Kind.LINE, b"\xff" * 10), started="then"))
    assert entry["details"]["body"] == "\N{REPLACEMENT CHARACTER}" * 4 + "… (10 bytes)"
    assert entry["timestamp"] == "then"
