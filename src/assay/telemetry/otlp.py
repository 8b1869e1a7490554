"""Served requests as OTLP/JSON: a span each, and histograms of their durations.

The attributes that all calls of a tool share are encoded once; the rest of a span is inserted as text.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

import msgspec
from msgspec import Raw

from .labels import BUCKETS, Labels
from .outcome import OK, Outcome

encode: Final = msgspec.json.Encoder().encode
SERVER: Final = 2
"""The span kind `SERVER` in OTLP."""
ERROR: Final = 2
CUMULATIVE: Final = 2
Attributes = Mapping[str, Any]


class RequestSpan(NamedTuple):
    """A finished request. Times are nanoseconds since 1970."""

    labels: Labels
    trace_id: int
    span_id: int
    parent_id: int
    """0 for the root of a trace."""
    state: str
    links: tuple[tuple[int, int], ...]
    """Related spans: their trace ids and span ids."""
    began: int
    ended: int
    extra: Attributes
    """Attributes that its labels do not hold: the ids of request and session."""
    outcome: Outcome
    negotiated: Attributes


def encode_attributes(attributes: Attributes) -> bytes:
    """Attributes as the items of a JSON array, without the brackets. All values are strings."""
    return encode([{"key": key, "value": {"stringValue": str(value)}} for key, value in attributes.items()])[
        1:-1
    ]


def write_spans(resource: bytes, requests: Iterable[RequestSpan]) -> bytes:
    """The body of an export; `resource` holds the encoded attributes of the server."""
    spans = b",".join(map(write_span, requests))
    scope = b'{"scope":{"name":"assay"},"spans":[' + spans + b"]}"
    return b'{"resourceSpans":[{"resource":{"attributes":[%b]},"scopeSpans":[%b]}]}' % (resource, scope)


def write_span(request: RequestSpan) -> bytes:
    labels = request.labels
    if not labels.text:
        labels.text = b'"name":%b,"kind":%d,"attributes":[%b' % (
            encode(labels.name),
            SERVER,
            encode_attributes(labels.span),
        )
    extra = request.extra if request.outcome is OK else {**request.extra, **request.outcome.attributes}
    parent = b'"parentSpanId":"%016x",' % request.parent_id if request.parent_id else b""
    return (
        b'{"traceId":"%032x","spanId":"%016x",%b"startTimeUnixNano":"%d","endTimeUnixNano":"%d",%b,%b]%b}'
        % (
            request.trace_id,
            request.span_id,
            parent,
            request.began,
            request.ended,
            labels.text,
            encode_attributes(extra),
            _optional(request),
        )
    )


def _optional(request: RequestSpan) -> bytes:
    """Members that few spans have."""
    if request.outcome.error is None and not request.links and not request.state:
        return b""
    rest: dict[str, Any] = {}
    if request.outcome.error is not None:
        rest["status"] = {"code": ERROR, "message": request.outcome.text or ""}
    if request.links:
        rest["links"] = [
            {"traceId": f"{trace:032x}", "spanId": f"{span:016x}"} for trace, span in request.links
        ]
    if request.state:
        rest["traceState"] = request.state
    return b"," + encode(rest)[1:-1]


class Histogram:
    """Durations since the start of the process, in buckets."""

    def __init__(self, began: int) -> None:
        self._began = began
        self._count = 0
        self._sum = 0.0
        self._least, self._most = float("inf"), 0.0
        self._buckets = [0] * (len(BUCKETS) + 1)

    def add(self, seconds: float) -> None:
        self._count += 1
        self._sum += seconds
        self._least, self._most = min(self._least, seconds), max(self._most, seconds)
        self._buckets[bisect_left(BUCKETS, seconds)] += 1

    def point(self, attributes: bytes, now: int) -> dict[str, Any]:
        return {
            "attributes": Raw(b"[" + attributes + b"]"),
            "startTimeUnixNano": str(self._began),
            "timeUnixNano": str(now),
            "count": str(self._count),
            "sum": self._sum,
            "min": self._least,
            "max": self._most,
            "bucketCounts": [str(count) for count in self._buckets],
            "explicitBounds": BUCKETS,
        }


class DurationMetric:
    """A histogram per set of attributes. Clients must not choose any of these: the number of sets is
    unbounded."""

    def __init__(self, name: str, description: str, began: int) -> None:
        self._description = {"name": name, "unit": "s", "description": description}
        self._began = began
        self._points: dict[bytes, Histogram] = {}

    def add(self, attributes: bytes, seconds: float) -> None:
        histogram = self._points.get(attributes)
        if histogram is None:
            histogram = self._points[attributes] = Histogram(self._began)
        histogram.add(seconds)

    def write(self, now: int) -> dict[str, Any]:
        points = [histogram.point(attributes, now) for attributes, histogram in self._points.items()]
        return {
            **self._description,
            "histogram": {"aggregationTemporality": CUMULATIVE, "dataPoints": points},
        }


def write_metrics(resource: bytes, metrics: Iterable[DurationMetric], now: int) -> bytes:
    scope = {"scope": {"name": "assay"}, "metrics": [metric.write(now) for metric in metrics]}
    attributes = {"attributes": Raw(b"[" + resource + b"]")}
    return encode({"resourceMetrics": [{"resource": attributes, "scopeMetrics": [scope]}]})
