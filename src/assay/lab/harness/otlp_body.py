"""The bodies of OTLP: protobuf or JSON, plain or compressed, as OTLP/JSON with ids in hexadecimal."""

from __future__ import annotations

import zlib
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterator
from typing import Any, Final

import msgspec

from assay.model.error import MissingExtra

from .http_text import JSON
from .otlp_http import PROTOBUF, Post, Refused

LARGEST: Final = 64 * 1024 * 1024
"""Bytes of a body once it is inflated."""
IDS: Final = frozenset({"traceId", "spanId", "parentSpanId"})
"""Written in hexadecimal by OTLP/JSON, where the JSON of protobuf has base64."""
TRACE_ID: Final = 32
SPAN_ID: Final = 16
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
            'receiving spans needs opentelemetry-proto: pip install "assay[certify]"'
        ) from None


def read_spans(post: Post) -> list[dict[str, Any]]:
    """
    Raises:
        Refused: the body holds no spans, or one without a trace.
    """
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

    read = _read(post, ExportTraceServiceRequest())
    spans = list(_held(read, "resourceSpans", "scopeSpans", "spans"))
    if not all(len(one.get("traceId", "")) == TRACE_ID for one in spans):
        raise Refused(400, "a span has no trace id of 16 bytes")
    if not all(len(one.get("spanId", "")) == SPAN_ID for one in spans):
        raise Refused(400, "a span has no id of 8 bytes")
    return spans


def read_metrics(post: Post) -> list[dict[str, Any]]:
    """
    Raises:
        Refused: the body holds no metrics.
    """
    from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest

    read = _read(post, ExportMetricsServiceRequest())
    return list(_held(read, "resourceMetrics", "scopeMetrics", "metrics"))


def _held(value: dict[str, Any], *path: str) -> Iterator[dict[str, Any]]:
    """What lies at the end of lists within lists."""
    for one in value.get(path[0], ()):
        yield from _held(one, *path[1:]) if len(path) > 1 else (one,)


def _read(post: Post, message: Any) -> dict[str, Any]:
    """Read a body as a message, whichever way it was written: what comes out is written in one way."""
    from google.protobuf.json_format import MessageToDict, ParseError  # type: ignore[import-untyped]
    from google.protobuf.message import DecodeError  # type: ignore[import-untyped]

    fill = _FILLS.get(post.media_type)
    if fill is None:
        raise Refused(415, f"not a way to write OTLP: {post.media_type[:40]!r}; {' or '.join(_FILLS)}")
    body = _inflated(post)
    try:
        fill(message, body)
    except (DecodeError, ParseError, ValueError, TypeError, AttributeError, RecursionError):
        raise Refused(400, f"the body is no {type(message).__name__} in {post.media_type}") from None
    found: dict[str, Any] = _with_ids(MessageToDict(message, use_integers_for_enums=True), _to_hex)
    return found


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
