"""Traffic in the formats of other tools, read back by their rules."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from typing import Any

import pytest

from assay.lab.error import InvalidOptions
from assay.lab.export.registry import exporter, exports, is_binary
from assay.lab.harness.run.run import FORMAT, Run
from assay.lab.harness.trace.frame import Frame, Header, Kind, Sender
from assay.lab.harness.trace.trace import Trace
from assay.lab.tap.judgement import judged_run
from tests.lab.tap.traffic import FAULTY_SERVER

STARTED = "2026-01-02T03:04:05.000Z"
EMPTY = Run(format=FORMAT, assay="x", started=STARTED, seconds=0.0, subjects=[], cells=[])
CALL = b'{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"add"}}'
RESULT = b'{"jsonrpc":"2.0","id":2,"error":{"code":-32602,"message":"no"}}'
POST = b"POST /mcp?x=1 HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\n\r\n" + CALL
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"


def trace(*frames: tuple[Sender, str, Kind, bytes], transport: str = "http") -> Trace:
    header = Header("2025-11-25", transport, "http://server.example/mcp", "tap-1", STARTED)
    return Trace(header, [Frame(n, n / 1000, *frame) for n, frame in enumerate(frames)])


DRIVER, SUBJECT = Sender.DRIVER, Sender.SUBJECT
HTTP = trace(
    (DRIVER, "1/post-1", Kind.REQUEST, POST),
    (SUBJECT, "1/post-1", Kind.HEAD, HEAD),
    (SUBJECT, "1/post-1", Kind.BODY, RESULT),
    (SUBJECT, "1/post-1", Kind.END, b""),
)
STDIO = trace(
    (DRIVER, "1/lines", Kind.LINE, CALL + b"\n"),
    (SUBJECT, "1/errors", Kind.ERRORS, b"\x1b[31mred"),
    (SUBJECT, "1/lines", Kind.LINE, RESULT + b"\n"),
    transport="stdio",
)
SOCKET = trace(
    (DRIVER, "1/ws", Kind.REQUEST, b"GET /mcp HTTP/1.1\r\nUpgrade: websocket\r\n\r\n"),
    (SUBJECT, "1/ws", Kind.HEAD, b"HTTP/1.1 101 Switching Protocols\r\n\r\n"),
    (DRIVER, "1/ws", Kind.TEXT, CALL),
    (SUBJECT, "1/ws", Kind.TEXT, RESULT),
    transport="ws",
)
ALL = [("a.ndjson", HTTP), ("b.ndjson", STDIO), ("c.ndjson", SOCKET)]


def exported(form: str) -> Any:
    return json.loads(exporter(form)(EMPTY, ALL))


def test_har_has_an_entry_for_each_request_and_the_messages_of_channels() -> None:
    entries = {entry["request"]["method"]: entry for entry in exported("har")["log"]["entries"]}

    assert set(entries) == {"POST", "STDIO", "GET"}
    assert entries["POST"]["request"]["url"] == "http://server.example/mcp?x=1"
    assert entries["POST"]["request"]["queryString"] == [{"name": "x", "value": "1"}]
    assert entries["POST"]["response"]["content"]["text"] == RESULT.decode()
    assert entries["POST"]["startedDateTime"] == STARTED
    assert [message["type"] for message in entries["GET"]["_webSocketMessages"]] == ["send", "receive"]
    assert [message["type"] for message in entries["STDIO"]["_webSocketMessages"]] == ["send", "receive"]


def test_otlp_has_a_span_for_each_request_with_its_outcome() -> None:
    spans = [
        span
        for resource in exported("otlp")["resourceSpans"]
        for scope in resource["scopeSpans"]
        for span in scope["spans"]
    ]

    assert [span["name"] for span in spans] == ["tools/call add"] * 3
    assert all(span["status"]["code"] == 2 for span in spans)
    assert int(spans[0]["endTimeUnixNano"]) - int(spans[0]["startTimeUnixNano"]) == pytest.approx(
        2_000_000, abs=1000
    )
    values = {item["key"]: item["value"]["stringValue"] for item in spans[0]["attributes"]}
    assert values["error.type"] == "-32602"
    assert values["mcp.method.name"] == "tools/call"


def blocks(data: bytes) -> Iterator[tuple[int, bytes]]:
    while data:
        kind, length = struct.unpack_from("<II", data)
        assert length % 4 == 0
        assert data[length - 4 : length] == data[4:8]
        yield kind, data[8 : length - 4]
        data = data[length:]


def packets(data: bytes) -> list[tuple[int, bytes]]:
    """Interface and contents of each packet."""
    heads = [(body, *struct.unpack_from("<IIIII", body)) for kind, body in blocks(data) if kind == 6]
    return [(interface, body[20 : 20 + size]) for body, interface, _, _, size, _ in heads]


def test_pcapng_has_tcp_streams_and_lines() -> None:
    contents = packets(exporter("pcapng")(EMPTY, ALL))
    streams = b"".join(packet[40:] for interface, packet in contents if interface == 0)
    lines = [packet for interface, packet in contents if interface == 1]

    assert POST.partition(b"\r\n\r\n")[0] in streams
    assert b"Content-Length: %d\r\n\r\n%b" % (len(RESULT), RESULT) in streams
    assert b"chunked" not in streams
    assert lines == [b"\0\0" + CALL + b"\n", b"\1\1\x1b[31mred", b"\1\0" + RESULT + b"\n"]
    assert is_binary("pcapng")


def test_sequence_numbers_of_a_stream_have_no_gap() -> None:
    expected: dict[bytes, int] = {}
    for _, packet in packets(exporter("pcapng")(EMPTY, [("a", HTTP)])):
        number, _, _, flags = struct.unpack_from(">IIBB", packet, 24)
        ports = packet[20:24]
        assert number == expected.get(ports, number)
        expected[ports] = number + len(packet) - 40 + (1 if flags & 3 else 0)


@pytest.mark.parametrize("form", exports())
def test_findings_are_part_of_the_export(form: str) -> None:
    lines = [
        (sender, "1/lines", Kind.LINE, json.dumps({"jsonrpc": "2.0", **fields}).encode() + b"\n")
        for sender, fields in FAULTY_SERVER
    ]
    traffic = trace(*lines, transport="stdio")
    data = exporter(form)(judged_run([("x/tap-1.ndjson", traffic)]), [("y/tap-1.ndjson", traffic)])

    assert b"TL-06" in data


def test_an_unknown_format_is_refused() -> None:
    with pytest.raises(InvalidOptions, match="unknown format: pcap"):
        exporter("pcap")
