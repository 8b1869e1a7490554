"""Spans as OTLP/JSON.

The SDK writes them as Protobuf, object by object, which takes longer than a whole call. Here most of a span
is text that was written before: the same attributes come again and again.
"""

from __future__ import annotations

from base64 import b64encode
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from math import isfinite
from typing import Any, Final

import msgspec
from msgspec import Raw
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.util.instrumentation import InstrumentationScope

KEPT: Final = 4096
"""Attributes that are kept as text; when there are more, they are written anew."""
LONG: Final = 64
"""Characters of a text beyond which it hardly comes again."""
NOT_FINITE: Final = {"inf": "Infinity", "-inf": "-Infinity", "nan": "NaN"}
"""Numbers that JSON does not have, as Protobuf writes them there."""
encode: Final = msgspec.json.Encoder().encode


class SpanWriter:
    def __init__(self) -> None:
        self._kept: dict[tuple[str, str], Raw] = {}

    def write(self, spans: Sequence[ReadableSpan]) -> bytes:
        """The body of an export request."""
        by_scope: dict[InstrumentationScope | None, list[ReadableSpan]] = defaultdict(list)
        for span in spans:
            by_scope[span.instrumentation_scope].append(span)
        scopes = [
            {"scope": self._scope(scope), "spans": [self._span(span) for span in here]}
            for scope, here in by_scope.items()
        ]
        resource = {"attributes": self._attributes(spans[0].resource.attributes)} if spans else {}
        return encode({"resourceSpans": [{"resource": resource, "scopeSpans": scopes}]})

    def _scope(self, scope: InstrumentationScope | None) -> dict[str, Any]:
        return {} if scope is None else {"name": scope.name, "version": scope.version or ""}

    def _span(self, span: ReadableSpan) -> dict[str, Any]:
        context, parent = span.context, span.parent
        assert context is not None
        written: dict[str, Any] = {
            "traceId": f"{context.trace_id:032x}",
            "spanId": f"{context.span_id:016x}",
            "name": span.name,
            "kind": span.kind.value + 1,
            "startTimeUnixNano": str(span.start_time or 0),
            "endTimeUnixNano": str(span.end_time or 0),
            "attributes": self._attributes(span.attributes),
            "flags": int(context.trace_flags),
        }
        if parent is not None:
            written["parentSpanId"] = f"{parent.span_id:016x}"
        if context.trace_state:
            written["traceState"] = context.trace_state.to_header()
        if span.status.status_code.value:
            code, text = span.status.status_code.value, span.status.description or ""
            written["status"] = {"code": code, "message": text}
        if span.events or span.links:
            written |= self._around(span)
        return written

    def _around(self, span: ReadableSpan) -> dict[str, Any]:
        events = [
            {
                "name": event.name,
                "timeUnixNano": str(event.timestamp),
                "attributes": self._attributes(event.attributes),
            }
            for event in span.events
        ]
        links = [
            {
                "traceId": f"{link.context.trace_id:032x}",
                "spanId": f"{link.context.span_id:016x}",
                "attributes": self._attributes(link.attributes),
            }
            for link in span.links
        ]
        return {"events": events, "links": links}

    def _attributes(self, attributes: Mapping[str, Any] | None) -> list[Raw]:
        return [self._attribute(key, value) for key, value in (attributes or {}).items()]

    def _attribute(self, key: str, value: Any) -> Raw:
        if type(value) is not str or len(value) > LONG:
            return Raw(encode({"key": key, "value": valued(value)}))
        place = (key, value)
        kept = self._kept.get(place)
        if kept is None:
            if len(self._kept) >= KEPT:
                self._kept.clear()
            kept = self._kept[place] = Raw(encode({"key": key, "value": {"stringValue": value}}))
        return kept


def valued(value: Any) -> dict[str, Any]:
    """A value in the form that says its type."""
    match value:
        case bool():
            return {"boolValue": value}
        case str():
            return {"stringValue": value}
        case int():
            return {"intValue": str(value)}
        case float():
            return {"doubleValue": value if isfinite(value) else NOT_FINITE[str(value)]}
        case bytes():
            return {"bytesValue": b64encode(value).decode()}
        case Mapping():
            return {"kvlistValue": {"values": [_pair(key, one) for key, one in value.items()]}}
        case Iterable():
            return {"arrayValue": {"values": [valued(one) for one in value]}}
        case _:
            return {}


def _pair(key: Any, value: Any) -> dict[str, Any]:
    return {"key": str(key), "value": valued(value)}
