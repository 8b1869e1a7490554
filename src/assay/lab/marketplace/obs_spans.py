"""Requests that the driver has put into traces of its own, and the spans that came of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

import msgspec
from msgspec import Struct

from assay.lab.harness.subject.otlp import attributes
from assay.lab.harness.trace.frame import Frame, Kind
from assay.lab.harness.trace.trace import Exchange, Trace

SERVER: Final = 2
"""The kind of a span that is a request as its server sees it, in OTLP."""
ERROR: Final = 2
"""The status of a span that failed, in OTLP."""
UNKNOWN_METHOD: Final = -32601
PARENT: Final = "traceparent"


class Span(Struct, frozen=True):
    frame: Frame
    name: str
    kind: int
    trace: str
    parent: str
    status: int
    attributes: dict[str, Any]

    @property
    def frames(self) -> tuple[Frame, ...]:
        return (self.frame,)


class Followed(Struct, frozen=True):
    """A request, where it said that its span belongs, and the span; none if there is none of kind SERVER."""

    exchange: Exchange
    trace: str
    parent: str
    span: Span | None
    elsewhere: Span | None = None
    """One of its method in a trace that is not the driver's, where all of them are."""

    @property
    def frames(self) -> tuple[Frame, ...]:
        spans = (one for one in (self.span, self.elsewhere) if one is not None)
        return self.exchange.frames + tuple(frame for span in spans for frame in span.frames)

    @property
    def is_known(self) -> bool:
        """Whether the server has the method: of others, it need not repeat the name."""
        return bool(self.exchange.code != UNKNOWN_METHOD)

    @property
    def target(self) -> str | None:
        """The tool or prompt that is named."""
        name = self.exchange.params.get("name")
        return name if isinstance(name, str) else None


def followed(trace: Trace) -> Iterator[Followed]:
    """Every answered request with a trace of its own."""
    spans = list(_spans(trace))
    found = [
        Followed(exchange, trace_id, parent, _server_span(spans, trace_id, parent))
        for exchange, trace_id, parent in _traced(trace)
    ]
    if any(one.span is not None for one in found):
        return iter(found)
    return (msgspec.structs.replace(one, elsewhere=_elsewhere(spans, one)) for one in found)


def _traced(trace: Trace) -> Iterator[tuple[Exchange, str, str]]:
    """Requests with the ids of their trace and of the span that is the parent of theirs."""
    for exchange in trace.exchanges():
        meta = exchange.params.get("_meta")
        named = meta.get(PARENT) if isinstance(meta, dict) else None
        match str(named).split("-"):
            case [_, trace_id, parent, _] if exchange.answer is not None:
                yield exchange, trace_id, parent


def spanned(trace: Trace) -> Iterator[tuple[Followed, Span]]:
    """Those of which there is a span."""
    return ((one, one.span) for one in followed(trace) if one.span is not None)


def _server_span(spans: list[Span], trace_id: str, parent: str) -> Span | None:
    """A server may have several in one trace: the nearest to the driver is the request's."""
    fits = [one for one in spans if one.trace == trace_id and one.kind == SERVER]
    return next((one for one in fits if one.parent == parent), fits[0] if fits else None)


def _elsewhere(spans: list[Span], one: Followed) -> Span | None:
    return next(
        (
            span
            for span in spans
            if span.kind == SERVER
            and span.trace != one.trace
            and names_method(span.name, span.attributes, one.exchange.method)
        ),
        None,
    )


def names_method(name: str, said: Mapping[str, Any], method: str) -> bool:
    """Whether a span is of that method."""
    return method in (name.partition(" ")[0], said.get("mcp.method.name"), said.get("rpc.method"))


def _spans(trace: Trace) -> Iterator[Span]:
    for frame in trace.frames:
        if frame.kind is Kind.SPAN:
            found = _read(frame)
            if found is not None:
                yield found


class _Status(Struct):
    code: int = 0


class _Exported(Struct):
    """A span as OTLP/JSON writes it, as far as it is looked at."""

    trace_id: str = msgspec.field(name="traceId")
    name: str = ""
    kind: int = 0
    parent: str = msgspec.field(name="parentSpanId", default="")
    status: _Status = msgspec.field(default_factory=_Status)
    attributes: list[dict[str, Any]] = []


_decode: Final = msgspec.json.Decoder(_Exported).decode


def _read(frame: Frame) -> Span | None:
    """None for what is no span: a stored trace may hold anything."""
    try:
        read = _decode(frame.raw)
        named = attributes({"attributes": read.attributes})
    except (msgspec.DecodeError, UnicodeDecodeError, ValueError, TypeError, AttributeError):
        return None
    return Span(frame, read.name, read.kind, read.trace_id, read.parent, read.status.code, named)
