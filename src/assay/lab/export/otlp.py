"""OTLP/JSON: a span for each request of either side, for any backend that takes OpenTelemetry data.

`curl -H 'Content-Type: application/json' --data-binary @traffic.json http://localhost:4318/v1/traces` sends
it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from hashlib import sha256
from typing import Any, Final

import msgspec

from assay.lab.harness.run.run import Run
from assay.lab.harness.trace.frame import Sender
from assay.lab.harness.trace.trace import Exchange, Trace
from assay.lab.harness.transport import Transport
from assay.model.version import VERSION

from .moment import notes, seconds_of

CLIENT: Final = 3
"""SPAN_KIND_CLIENT: the span is measured where the request passes."""
ERROR: Final = 2
LONGEST: Final = 1000
_PARENT: Final = re.compile(r"00-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}")
_NAMED: Final = {"tools/call": "gen_ai.tool.name", "prompts/get": "gen_ai.prompt.name"}


def render(run: Run, traffic: Sequence[tuple[str, Trace]]) -> bytes:
    value = {"resourceSpans": [_resource(trace, notes(run, path)) for path, trace in traffic]}
    return msgspec.json.format(msgspec.json.encode(value), indent=1) + b"\n"


def _resource(trace: Trace, comments: dict[int, list[str]]) -> dict[str, Any]:
    exchanges = sorted(
        (*trace.all_exchanges, *trace.all_subject_exchanges), key=lambda each: each.request.frame.n
    )
    return {
        "resource": {
            "attributes": _attributes(
                {"service.name": "assay-tap", "server.address": trace.header.subject[:LONGEST]}
            )
        },
        "scopeSpans": [
            {
                "scope": {"name": "assay", "version": VERSION},
                "spans": [_span(trace, exchange, comments) for exchange in exchanges],
            }
        ],
    }


def _span(trace: Trace, exchange: Exchange, comments: dict[int, list[str]]) -> dict[str, Any]:
    request, answer = exchange.request, exchange.answer
    parent = _PARENT.fullmatch(str(exchange.meta.get("traceparent")))
    place = f"{trace.header.started} {trace.header.subject} {trace.header.scenario}"
    own = sha256(f"{place} {request.frame.n} {request.place}".encode()).hexdigest()
    name = exchange.params.get("name")
    span: dict[str, Any] = {
        "traceId": parent[1] if parent else sha256(place.encode()).hexdigest()[:32],
        "spanId": own[:16],
        "name": _name(exchange.method, name),
        "kind": CLIENT,
        "startTimeUnixNano": _nanoseconds(seconds_of(trace, request.frame)),
        "endTimeUnixNano": _nanoseconds(seconds_of(trace, (answer or request).frame)),
        "attributes": _attributes(dict(_facts(trace, exchange))),
        "events": [
            _event(trace, frame.t, text) for frame in exchange.frames for text in comments.get(frame.n, ())
        ],
        "status": {"code": ERROR, "message": str(exchange)[:LONGEST]} if _failed(exchange) else {},
    }
    if parent:
        span["parentSpanId"] = parent[2]
    return span


def _name(method: str, name: Any) -> str:
    text = f"{method} {name}" if isinstance(name, str) and method in _NAMED else method
    return text[:LONGEST]


def _facts(trace: Trace, exchange: Exchange) -> Iterator[tuple[str, str]]:
    yield "mcp.method.name", exchange.method
    yield "mcp.protocol.version", trace.header.revision
    yield "jsonrpc.protocol.version", "2.0"
    yield "jsonrpc.request.id", str(exchange.request.id)
    yield "network.transport", "pipe" if trace.transport == Transport.STDIO else "tcp"
    yield "assay.sender", "client" if exchange.request.frame.sender is Sender.DRIVER else "server"
    name = exchange.params.get("name")
    if exchange.method in _NAMED and isinstance(name, str):
        yield _NAMED[exchange.method], name
    if exchange.head is not None:
        yield "http.response.status_code", str(exchange.head.status)
    if _failed(exchange):
        yield "error.type", "no_answer" if exchange.answer is None else str(exchange.code or "tool_error")


def _failed(exchange: Exchange) -> bool:
    is_error = exchange.result is not None and exchange.result.get("isError") is True
    return exchange.answer is None or exchange.code is not None or is_error


def _event(trace: Trace, moment: float, text: str) -> dict[str, Any]:
    begin = seconds_of(trace, trace.frames[0]) - trace.frames[0].t
    return {
        "timeUnixNano": _nanoseconds(begin + moment),
        "name": "assay.finding",
        "attributes": _attributes({"assay.finding": text}),
    }


def _attributes(values: dict[str, str]) -> list[dict[str, Any]]:
    return [{"key": key, "value": {"stringValue": value[:LONGEST]}} for key, value in values.items()]


def _nanoseconds(seconds: float) -> str:
    return str(max(int(seconds * 1_000_000_000), 0))
