"""Connections for malformed input and for controls."""

import json
from typing import Any

from assay.lab.harness.trace.frame import Frame, Header, Kind, Sender
from assay.lab.harness.trace.separation import (
    APART,
    CONTROL,
    connections,
    fails_without,
    is_refused_for_header,
    judged,
)
from assay.lab.harness.trace.trace import Trace
from assay.revisions.registry import HANDSHAKE
from tests.lab.traces import request, result

REVISION = HANDSHAKE[-1].date


def trace_of(*frames: tuple[Sender, str, Kind, bytes, dict[str, Any]], transport: str = "stdio") -> Trace:
    header = Header(REVISION, transport, "by hand", "by-hand", closed=True)
    return Trace(header, [Frame(n, n / 1000, *frame) for n, frame in enumerate(frames)])


def line(sender: Sender, connection: int, message: Any) -> tuple[Sender, str, Kind, bytes, dict[str, Any]]:
    return sender, f"{connection}/lines", Kind.LINE, json.dumps(message).encode() + b"\n", {}


def mark(connection: int, label: str) -> tuple[Sender, str, Kind, bytes, dict[str, Any]]:
    return Sender.DRIVER, f"{connection}/marks", Kind.MARK, b"", {"label": label}


def pinged(connection: int) -> list[Any]:
    number = f"sentinel-{connection}-1"
    return [
        line(Sender.DRIVER, connection, request(number, "ping")),
        line(Sender.SUBJECT, connection, result(number)),
    ]


def test_answered_sentinels_are_judged_unless_their_connection_is_apart() -> None:
    trace = judged(trace_of(*pinged(1), mark(2, APART), *pinged(2)))
    assert [exchange.request.frame.connection for exchange in trace.exchanges("ping")] == ["1"]
    assert [frame.n for frame in trace.frames] == [0, 1, 2, 3, 4]


def test_other_messages_and_silence_on_a_connection_apart_are_judged() -> None:
    silent = line(Sender.DRIVER, 2, request("sentinel-2-1", "ping"))
    other = [line(Sender.DRIVER, 2, request(1, "ping")), line(Sender.SUBJECT, 2, result(1))]
    trace = judged(trace_of(mark(2, APART), *other, silent))
    assert len(list(trace.exchanges("ping"))) == 2


def test_trace_without_such_connections_is_not_copied() -> None:
    trace = trace_of(*pinged(1))
    assert judged(trace) is trace
    assert connections(trace, APART) == frozenset()


def called(connection: int, method: str, status: int, body: Any = None, **headers: str) -> list[Any]:
    channel = f"{connection}/{method.lower()}-{status}-{len(headers)}"
    head = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    sent = b"" if body is None else json.dumps(body).encode()
    return [
        (
            Sender.DRIVER,
            channel,
            Kind.REQUEST,
            f"{method} /mcp HTTP/1.1\r\nHost: a\r\n{head}\r\n".encode() + sent,
            {},
        ),
        (Sender.SUBJECT, channel, Kind.HEAD, f"HTTP/1.1 {status} X\r\n\r\n".encode(), {}),
    ]


def test_request_fails_without_its_peculiarity_if_the_control_has_the_same_status() -> None:
    special = called(1, "GET", 404, Origin="b")
    for control, expected in ((404, True), (405, False), (200, False)):
        frames = [*special, mark(2, CONTROL), *called(2, "GET", control)]
        trace = trace_of(*frames, transport="http")
        assert fails_without(trace.calls[0], trace) is expected
    unmarked = trace_of(*special, *called(2, "GET", 404), transport="http")
    assert not fails_without(unmarked.calls[0], unmarked)


def test_request_is_refused_for_a_header_if_it_is_answered_with_another() -> None:
    ping = request(1, "ping")
    refused = called(1, "POST", 403, ping, Origin="b")
    for others, expected in (
        (called(1, "POST", 200, ping), True),
        (called(1, "POST", 200, request(1, "tools/list")), False),
        (called(1, "POST", 403, ping), False),
    ):
        trace = trace_of(*refused, *others, transport="http")
        assert is_refused_for_header(trace.calls[0], trace) is expected
