"""The bodies of OTLP: protobuf or JSON, plain or compressed, as OTLP/JSON with ids in hexadecimal."""

from __future__ import annotations

import zlib
from base64 import b64decode, b64encode
from collections.abc import Callable
from typing import Any, Final

import msgspec

from assay.lab.harness.links.http_text import JSON
from assay.model.error import MissingExtra

from .otlp_http import PROTOBUF, Post, Refused

LARGEST: Final = 64 * 1024 * 1024
"""Bytes of a body once it is inflated."""
IDS: Final = frozenset({"traceId", "spanId", "parentSpanId"})
"""Written in hexadecimal by OTLP/JSON, where the JSON of protobuf has base64."""
TRACE_ID: Final = 16
SPAN_ID: Final = 8
_GZIP: Final = 31
"""zlib's word for: with the head and the end of gzip."""
_decode: Final = msgspec.json.Decoder(dict[str, Any]).decode


def need_messages() -> None:
    """
    Raises:
        MissingExtra: the messages of OTLP are not installed.
    """
    try:
        import opentelemetry.proto.collector.trace.v1.trace_service_pb2  # noqa: F401
    except ImportError:
        raise MissingExtra(
            'receiving spans needs opentelemetry-proto: pip install "assay-mcp[certify]"'
        ) from None


def read_spans(post: Post) -> list[tuple[str, Any]]:
    """Each span, as the message that it is, with the id of its trace. To write one as JSON takes longer than
    to receive it, and few are ever looked at: `as_json` is for those.

    Raises:
        Refused: the body holds no spans, or one without a trace.
    """
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

    read = _read(post, ExportTraceServiceRequest())
    scopes = [scope for resource in read.resource_spans for scope in resource.scope_spans]
    spans = [span for scope in scopes for span in scope.spans]
    if not all(len(one.trace_id) == TRACE_ID for one in spans):
        raise Refused(400, "a span has no trace id of 16 bytes")
    if not all(len(one.span_id) == SPAN_ID for one in spans):
        raise Refused(400, "a span has no id of 8 bytes")
    return [(one.trace_id.hex(), one) for one in spans]


def read_metrics(post: Post) -> list[dict[str, Any]]:
    """
    Raises:
        Refused: the body holds no metrics.
    """
    from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest

    read = _read(post, ExportMetricsServiceRequest())
    scopes = [scope for resource in read.resource_metrics for scope in resource.scope_metrics]
    return [as_json(metric) for scope in scopes for metric in scope.metrics]


def as_json(message: Any) -> dict[str, Any]:
    """OTLP/JSON with ids in hexadecimal, whichever way it was written before."""
    from google.protobuf.json_format import MessageToDict  # type: ignore[import-untyped]

    found: dict[str, Any] = _with_ids(MessageToDict(message, use_integers_for_enums=True), _to_hex)
    return found


def _read(post: Post, message: Any) -> Any:
    """The message, filled with what a body holds."""
    from google.protobuf.json_format import ParseError
    from google.protobuf.message import DecodeError  # type: ignore[import-untyped]

    fill = _FILLS.get(post.media_type)
    if fill is None:
        raise Refused(415, f"not a way to write OTLP: {post.media_type[:40]!r}; {' or '.join(_FILLS)}")
    body = _inflated(post)
    try:
        fill(message, body)
    except (DecodeError, ParseError, ValueError, TypeError, AttributeError, RecursionError):
        raise Refused(400, f"the body is no {type(message).__name__} in {post.media_type}") from None
    return message


def _inflated(post: Post) -> bytes:
    if post.coding in ("", "identity"):
        return post.body
    if post.coding not in ("gzip", "deflate"):
        raise Refused(415, f"not a way to compress OTLP: {post.coding[:40]!r}; gzip or deflate")
    inflating = zlib.decompressobj(_GZIP if post.coding == "gzip" else zlib.MAX_WBITS)
    try:
        body = inflating.decompress(post.body, LARGEST)
    except zlib.error:
        raise Refused(400, f"the body is no {post.coding}") from None
    if inflating.unconsumed_tail:
        raise Refused(413, f"the body is larger than {LARGEST} bytes when inflated")
    if not inflating.eof:
        raise Refused(400, f"the body is {post.coding} without an end")
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
    """The same, with ids written otherwise."""
    if isinstance(value, list):
        return [_with_ids(one, write) for one in value]
    if not isinstance(value, dict):
        return value
    return {
        key: write(held) if key in IDS and isinstance(held, str) else _with_ids(held, write)
        for key, held in value.items()
    }


def _to_hex(text: str) -> str:
    return b64decode(text).hex()


def _to_base64(text: str) -> str:
    return b64encode(bytes.fromhex(text)).decode()
