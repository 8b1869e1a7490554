"""The receiver of spans and metrics, used by the SDK's exporters and with raw requests."""

import asyncio
import gzip
import http.client
import json
import zlib
from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import urlsplit

import pytest
from opentelemetry.exporter.otlp.proto.http import Compression
from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.trace import SpanKind, format_trace_id

from assay.lab.harness.subject import otlp, otlp_body, otlp_http
from assay.lab.harness.subject.otlp import Receiver, attributes

TRACE = "0af7651916cd43dd8448eb211c80319c"
SPAN = "b7ad6b7169203331"
BODY = {
    "resourceSpans": [
        {
            "scopeSpans": [
                {
                    "spans": [
                        {
                            "traceId": TRACE.upper(),
                            "spanId": SPAN,
                            "name": "ping",
                            "kind": 2,
                            "attributes": [{"key": "rpc.id", "value": {"intValue": 7}}],
                            "somethingNew": True,
                        }
                    ]
                }
            ]
        }
    ]
}


@pytest.fixture
async def receiver() -> AsyncIterator[Receiver]:
    async with Receiver() as open_receiver:
        yield open_receiver


def export_span(endpoint: str, compression: Compression) -> str:
    exporter = OTLPSpanExporter(f"{endpoint}/v1/traces", compression=compression)
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    with provider.get_tracer("test").start_as_current_span("tools/call add", kind=SpanKind.SERVER) as span:
        span.set_attribute("rpc.method", "tools/call")
        span.set_attribute("flags", [True, False])
    provider.shutdown()
    return format_trace_id(span.get_span_context().trace_id)


def post(
    endpoint: str,
    body: bytes,
    *,
    path: str = "/v1/traces",
    method: str = "POST",
    **headers: str,
) -> tuple[int, bytes]:
    connection = http.client.HTTPConnection(urlsplit(endpoint).netloc, timeout=10)
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    connection.request(method, path, body, {"Content-Type": "application/json", **names})
    response = connection.getresponse()
    reply = response.status, response.read()
    connection.close()
    return reply


async def send_raw(endpoint: str, raw: bytes) -> bytes:
    """Send raw bytes and read the response to its end."""
    url = urlsplit(endpoint)
    reader, writer = await asyncio.open_connection(url.hostname, url.port)
    writer.write(raw)
    writer.write_eof()
    response = await reader.read()
    writer.close()
    return response


@pytest.mark.parametrize("compression", list(Compression))
async def test_exports_of_the_sdk_are_received(receiver: Receiver, compression: Compression) -> None:
    trace_id = await asyncio.to_thread(export_span, receiver.endpoint, compression)

    (span,) = await receiver.of_trace(trace_id, 5)

    assert receiver.all() == [span]
    assert (span["traceId"], span["name"], span["kind"]) == (trace_id, "tools/call add", 2)
    assert len(span["spanId"]) == 16
    assert {"key": "rpc.method", "value": {"stringValue": "tools/call"}} in span["attributes"]
    assert attributes(span) == {"rpc.method": "tools/call", "flags": [True, False]}


async def test_metrics_are_kept(receiver: Receiver) -> None:
    def export() -> None:
        exporter = OTLPMetricExporter(f"{receiver.endpoint}/v1/metrics")
        provider = MeterProvider([PeriodicExportingMetricReader(exporter, export_interval_millis=60_000)])
        provider.get_meter("test").create_histogram("took", "s").record(0.25, {"rpc.method": "ping"})
        provider.shutdown()

    await asyncio.to_thread(export)
    (metric,) = await receiver.metric("took", 5)

    (point,) = metric["histogram"]["dataPoints"]
    assert (point["count"], point["sum"], attributes(point)) == ("1", 0.25, {"rpc.method": "ping"})
    assert await receiver.metric("other", 0) == []


@pytest.mark.parametrize(
    ("coding", "compress"), [("identity", bytes), ("gzip", gzip.compress), ("deflate", zlib.compress)]
)
async def test_json_comes_out_in_the_same_form(receiver: Receiver, coding: str, compress: Any) -> None:
    body = compress(json.dumps(BODY).encode())

    answered = await asyncio.to_thread(post, receiver.endpoint, body, Content_Encoding=coding)
    (span,) = await receiver.of_trace(TRACE.upper(), 5)

    assert answered == (200, b"{}")
    assert (span["traceId"], span["spanId"], attributes(span)) == (TRACE, SPAN, {"rpc.id": 7})


async def test_chunks_are_put_together_and_the_connection_stays(receiver: Receiver) -> None:
    body = json.dumps(BODY).encode()
    head = b"POST /v1/traces HTTP/1.1\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
    chunks = [b"%x\r\n%b\r\n" % (len(part), part) for part in (body[:50], body[50:])]

    response = await send_raw(receiver.endpoint, 2 * (head + b"".join(chunks) + b"0\r\n\r\n"))

    assert response.count(b"HTTP/1.1 200 OK") == 2
    assert len(await receiver.of_trace(TRACE, 5, count=2)) == 2


async def test_after_the_timeout_fewer_spans_are_returned(receiver: Receiver) -> None:
    await asyncio.to_thread(post, receiver.endpoint, json.dumps(BODY).encode())

    assert len(await receiver.of_trace(TRACE, 0.01, count=2)) == 1
    assert await receiver.of_trace("0" * 32, 0) == []


BAD = {
    "no-json": (b"{", 400),
    "no-object": (b"[]", 400),
    "a-number": (b"7", 400),
    "no-list": (b'{"resourceSpans": 7}', 400),
    "null-in-a-list": (b'{"resourceSpans": [null]}', 400),
    "deep": (b'{"resourceSpans":' + b"[" * 100_000, 400),
    "id-not-hexadecimal": (json.dumps(BODY).replace(SPAN, "x" * 16).encode(), 400),
    "id-too-short": (json.dumps(BODY).replace(SPAN, "abcd").encode(), 400),
    "no-trace": (b'{"resourceSpans":[{"scopeSpans":[{"spans":[{"name":"a"}]}]}]}', 400),
}


@pytest.mark.parametrize(("body", "status"), BAD.values(), ids=BAD)
async def test_json_without_valid_spans_is_rejected(receiver: Receiver, body: bytes, status: int) -> None:
    actual, reason = await asyncio.to_thread(post, receiver.endpoint, body)

    assert actual == status
    assert json.loads(reason)["message"]


async def test_invalid_protobuf_is_rejected_with_a_status_message(receiver: Receiver) -> None:
    kind = "application/x-protobuf"

    status, reason = await asyncio.to_thread(post, receiver.endpoint, b"\xff\xff\xff", Content_Type=kind)

    assert (status, reason[0], reason[1]) == (400, 0x12, len(reason) - 2)


@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ({"path": "/v1/logs"}, 404),
        ({"method": "PUT"}, 405),
        ({"Content_Type": "text/plain"}, 415),
        ({"Content_Encoding": "br"}, 415),
        ({"Content_Encoding": "gzip"}, 400),
        ({"Content_Length": str(10**12)}, 413),
        ({"Content_Length": "many"}, 400),
    ],
)
async def test_wrong_request_gets_its_status(
    receiver: Receiver, changes: dict[str, str], status: int
) -> None:
    changes = dict(changes)
    actual, _ = await asyncio.to_thread(post, receiver.endpoint, b"{}", **changes)

    assert actual == status


async def test_bodies_are_limited_before_and_after_decompression(
    receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(otlp_body, "LARGEST", 1000)
    bomb = gzip.compress(bytes(1_000_000))
    inflated, _ = await asyncio.to_thread(post, receiver.endpoint, bomb, Content_Encoding="gzip")
    monkeypatch.setattr(otlp_http, "LARGEST", 1000)
    chunk = b"%x\r\n%b\r\n" % (600, bytes(600))
    head = b"POST /v1/traces HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"
    chunked = await send_raw(receiver.endpoint, head + chunk + chunk)

    assert inflated == 413
    assert chunked.startswith(b"HTTP/1.1 413 ")


@pytest.mark.parametrize(
    ("raw", "status"),
    [(b"hello\r\n\r\n", b"400"), (b"POST / HTTP/1.1\r\nX: " + bytes(100_000) + b"\r\n\r\n", b"431")],
)
async def test_bytes_that_are_not_a_request_are_rejected(
    receiver: Receiver, raw: bytes, status: bytes
) -> None:
    assert (await send_raw(receiver.endpoint, raw)).split(b" ")[1] == status


async def test_the_oldest_traces_are_dropped(receiver: Receiver, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(otlp, "MOST_SPANS", 1)
    await asyncio.to_thread(post, receiver.endpoint, json.dumps(BODY).encode())
    other = json.dumps(BODY).replace(TRACE.upper(), "1" * 32).encode()
    await asyncio.to_thread(post, receiver.endpoint, other)

    assert await receiver.of_trace(TRACE, 0) == []
    assert len(await receiver.of_trace("1" * 32, 0)) == 1
