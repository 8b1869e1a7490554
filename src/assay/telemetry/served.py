"""Requests that were served, as OTLP/JSON: a span for each, and how long they took, by kind.

What is the same for every call of a tool is written once; the rest of a span is put into it as text.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

import msgspec
from msgspec import Raw

from .labels import BUCKETS, Labels
from .outcome import FINE, Outcome

encode: Final = msgspec.json.Encoder().encode
SERVER: Final = 2
"""The kind of these spans, in the numbers of OTLP."""
ERROR: Final = 2
CUMULATIVE: Final = 2
Attributes = Mapping[str, Any]


class Served(NamedTuple):
    """A request that was served. Times are nanoseconds since 1970."""

    labels: Labels
    trace_id: int
    span_id: int
    parent_id: int
    """0 where it is the first of its trace."""
    state: str
    links: tuple[tuple[int, int], ...]
    """Other spans that led to it: their traces and ids."""
    began: int
    ended: int
    more: Attributes
    """What its labels do not hold: the ids of request and session."""
    outcome: Outcome
    agreed: Attributes


def written(attributes: Attributes) -> bytes:
    """Attributes as members of a list, without its brackets. All of ours are texts."""
    return encode([{"key": key, "value": {"stringValue": str(one)}} for key, one in attributes.items()])[1:-1]


def write_spans(resource: bytes, requests: Iterable[Served]) -> bytes:
    """The body of an export; `resource` is what `written` makes of the server's own attributes."""
    spans = b",".join(map(write_span, requests))
    scope = b'{"scope":{"name":"assay"},"spans":[' + spans + b"]}"
    return b'{"resourceSpans":[{"resource":{"attributes":[%b]},"scopeSpans":[%b]}]}' % (resource, scope)


def write_span(one: Served) -> bytes:
    labels = one.labels
    if not labels.text:
        labels.text = b'"name":%b,"kind":%d,"attributes":[%b' % (
            encode(labels.name),
            SERVER,
            written(labels.span),
        )
    more = written(one.more) if one.outcome is FINE else written({**one.more, **one.outcome.attributes})
    parent = b'"parentSpanId":"%016x",' % one.parent_id if one.parent_id else b""
    return (
        b'{"traceId":"%032x","spanId":"%016x",%b"startTimeUnixNano":"%d","endTimeUnixNano":"%d",%b,%b]%b}'
        % (
            one.trace_id,
            one.span_id,
            parent,
            one.began,
            one.ended,
            labels.text,
            more,
            _rest(one),
        )
    )


def _rest(one: Served) -> bytes:
    """What few spans have."""
    if one.outcome.error is None and not one.links and not one.state:
        return b""
    rest: dict[str, Any] = {}
    if one.outcome.error is not None:
        rest["status"] = {"code": ERROR, "message": one.outcome.text or ""}
    if one.links:
        rest["links"] = [{"traceId": f"{trace:032x}", "spanId": f"{span:016x}"} for trace, span in one.links]
    if one.state:
        rest["traceState"] = one.state
    return b"," + encode(rest)[1:-1]


class Histogram:
    """How long things took, since the beginning."""

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


class Durations:
    """A metric: a histogram for each set of attributes. Nothing in those is for strangers to choose."""

    def __init__(self, name: str, description: str, began: int) -> None:
        self._about = {"name": name, "unit": "s", "description": description}
        self._began = began
        self._points: dict[bytes, Histogram] = {}

    def add(self, attributes: bytes, seconds: float) -> None:
        found = self._points.get(attributes)
        if found is None:
            found = self._points[attributes] = Histogram(self._began)
        found.add(seconds)

    def write(self, now: int) -> dict[str, Any]:
        points = [one.point(attributes, now) for attributes, one in self._points.items()]
        return {**self._about, "histogram": {"aggregationTemporality": CUMULATIVE, "dataPoints": points}}


def write_metrics(resource: bytes, metrics: Iterable[Durations], now: int) -> bytes:
    scope = {"scope": {"name": "assay"}, "metrics": [one.write(now) for one in metrics]}
    about = {"attributes": Raw(b"[" + resource + b"]")}
    return encode({"resourceMetrics": [{"resource": about, "scopeMetrics": [scope]}]})
