"""OTLP request bodies: protobuf or JSON, plain or compressed, read with the official messages."""

from __future__ import annotations

import zlib
from base64 import b64decode, b64encode
from collections.abc import Callable
from typing import Any, Final

import msgspec

from assay.lab.harness.links.http_text import JSON
from assay.model.error import MissingExtra

from .otlp_http import PROTOBUF, ExportRejected, Post

LARGEST: Final = 64 * 1024 * 1024
"""Bytes of a decompressed body."""
IDS: Final = frozenset({"traceId", "spanId", "parentSpanId"})
"""Hexadecimal in OTLP/JSON, base64 in protobuf's JSON."""
TRACE_ID: Final = 16
SPAN_ID: Final = 8
_GZIP: Final = 31
"""Window bits that select the gzip format."""
_decode: Final = msgspec.json.Decoder(dict[str, Any]).decode


def need_messages() -> None:
    """
    Raises:
        MissingExtra: opentelemetry-proto is not installed.
    """
    try:
        import opentelemetry.proto.collector.trace.v1.trace_service_pb2  # noqa: F401
    except ImportError:
        raise MissingExtra(
            'receiving spans requires opentelemetry-proto: pip install "assay-mcp[certify]"'
        ) from None


def read_spans(post: Post) -> list[tuple[str, Any]]:
    """The spans as protobuf messages, each with its trace id. Converting a span to JSON takes longer than
    receiving it and few are read, so callers convert with `as_json` on demand.

    Raises:
        ExportRejected: the body does not contain spans, or a span has no trace id.
    """
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

    export = _read(post, ExportTraceServiceRequest())
    scopes = [scope for resource in export.resource_spans for scope in resource.scope_spans]
    spans = [span for scope in scopes for span in scope.spans]
    if not all(len(span.trace_id) == TRACE_ID for span in spans):
        raise ExportRejected(400, "a span has no trace id of 16 bytes")
    if not all(len(span.span_id) == SPAN_ID for span in spans):
        raise ExportRejected(400, "a span has no id of 8 bytes")
    return [(span.trace_id.hex(), span) for span in spans]


def read_metrics(post: Post) -> list[dict[str, Any]]:
    """
    Raises:
        ExportRejected: the body does not contain metrics.
    """
    from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest

    export = _read(post, ExportMetricsServiceRequest())
    scopes = [scope for resource in export.resource_metrics for scope in resource.scope_metrics]
    return [as_json(metric) for scope in scopes for metric in scope.metrics]


def as_json(message: Any) -> dict[str, Any]:
    """OTLP/JSON, with ids in hexadecimal."""
    from google.protobuf.json_format import MessageToDict  # type: ignore[import-untyped]

    fields: dict[str, Any] = _with_ids(MessageToDict(message, use_integers_for_enums=True), _to_hex)
    return fields


def _read(post: Post, message: Any) -> Any:
    """Parse a body into the message."""
    from google.protobuf.json_format import ParseError
    from google.protobuf.message import DecodeError  # type: ignore[import-untyped]

    fill = _FILLS.get(post.media_type)
    if fill is None:
        accepted = " or ".join(_FILLS)
        raise ExportRejected(415, f"unsupported media type {post.media_type[:40]!r}: use {accepted}")
    body = _inflated(post)
    try:
        fill(message, body)
    except (DecodeError, ParseError, ValueError, TypeError, AttributeError, RecursionError):
        raise ExportRejected(400, f"the body is not a valid {type(message).__name__}") from None
    return message


def _inflated(post: Post) -> bytes:
    if post.coding in ("", "identity"):
        return post.body
    if post.coding not in ("gzip", "deflate"):
        raise ExportRejected(415, f"unsupported content coding {post.coding[:40]!r}: use gzip or deflate")
    decompressor = zlib.decompressobj(_GZIP if post.coding == "gzip" else zlib.MAX_WBITS)
    try:
        body = decompressor.decompress(post.body, LARGEST)
    except zlib.error:
        raise ExportRejected(400, f"the body is not valid {post.coding}") from None
    if decompressor.unconsumed_tail:
        raise ExportRejected(413, f"the decompressed body is larger than {LARGEST} bytes")
    if not decompressor.eof:
        raise ExportRejected(400, f"the {post.coding} body is truncated")
    return body


def _fill_from_protobuf(message: Any, body: bytes) -> None:
    message.ParseFromString(body)


def _fill_from_json(message: Any, body: bytes) -> None:
    from google.protobuf.json_format import ParseDict

    ParseDict(_with_ids(_decode(body), _to_base64), message, ignore_unknown_fields=True)


_FILLS: Final[dict[str, Callable[[Any, bytes], None]]] = {
    PROTOBUF: _fill_from_protobuf,
    JSON: _fill_from_json,
}


def _with_ids(value: Any, write: Callable[[str], str]) -> Any:
    """The value with its ids converted."""
    if isinstance(value, list):
        return [_with_ids(item, write) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        key: write(item) if key in IDS and isinstance(item, str) else _with_ids(item, write)
        for key, item in value.items()
    }


def _to_hex(text: str) -> str:
    return b64decode(text).hex()


def _to_base64(text: str) -> str:
    return b64encode(bytes.fromhex(text)).decode()
