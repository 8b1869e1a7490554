"""Spans: one per request, named and linked as OpenTelemetry's conventions for MCP say."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Iterator, Mapping
from typing import Any, Final

import msgspec
from msgspec import Struct

from assay.lab.harness import Json, Observation, Stage, Trace, observe, on_span, scenario
from assay.lab.harness.driver.choice import SafeRequest, safe_requests_for
from assay.lab.harness.need import EXPORTED_SPANS
from assay.lab.harness.sabotage.saboteur import OnSpan, newest_of_each_kind
from assay.lab.harness.subject.facts import Facts
from assay.lab.harness.subject.otlp import attributes
from assay.lab.harness.subject.out_of_band import Spans
from assay.lab.harness.trace.frame import Frame, Kind
from assay.lab.harness.trace.trace import Exchange

from .declaration import BOTH, profile_check

AREA = "obs"  # in ids


class Attribute(Struct, frozen=True):
    """An expected value: this text, else a text with one of these words, else any text that is not empty."""

    text: str | None = None
    within: tuple[str, ...] = ()

    def fits(self, value: Any) -> bool:
        if not isinstance(value, str) or not value:
            return False
        if self.text is not None:
            return value == self.text
        return not self.within or any(word in value for word in self.within)

    def __str__(self) -> str:
        return self.text or " or ".join(self.within) or "any value"


def wrong_attributes(expected: Mapping[str, Attribute], attributes: Mapping[str, Any]) -> list[str]:
    return [
        f"{name}={attributes[name]!r}" if name in attributes else f"no {name}"
        for name, attribute in expected.items()
        if not attribute.fits(attributes.get(name))
    ]


def new_trace() -> tuple[str, dict[str, str]]:
    """The id of a new trace, and the `_meta` that puts a request into it."""
    trace_id = secrets.token_hex(16)
    return trace_id, {PARENT: f"00-{trace_id}-{secrets.token_hex(8)}-01"}


async def record_spans(stage: Stage, methods: dict[str, str]) -> None:
    """Record the spans of these traces, each with one request of that method. Servers export with a delay."""
    deadline = time.monotonic() + stage.patience
    by_trace = await asyncio.gather(*(_spans_of(stage, trace_id, deadline) for trace_id in methods))
    spans = [span for exported in by_trace for span in exported]
    # A server may export spans and ignore the trace context of requests.
    for span in spans or _last_by_method(_source(stage).all(), set(methods.values())):
        stage.record_span(msgspec.json.encode(span))


def _source(stage: Stage) -> Spans:
    source = stage.out_of_band.spans
    assert source is not None, "the scenario must need SPANS_TO_SEE"
    return source


def _last_by_method(spans: list[dict[str, Any]], methods: set[str]) -> list[dict[str, Any]]:
    last: dict[str, dict[str, Any]] = {}
    for span in spans:
        for method in methods:
            if names_method(str(span.get("name")), attributes(span), method):
                last[method] = span
    return list(last.values())


async def _spans_of(stage: Stage, trace_id: str, deadline: float) -> list[dict[str, Any]]:
    """Wait for the span of kind SERVER; its children end first and may be exported first."""
    spans: list[dict[str, Any]] = []
    while (left := deadline - time.monotonic()) > 0:
        before = len(spans)
        spans = await _source(stage).of_trace(trace_id, left, before + 1)
        if len(spans) == before or any(span.get("kind") == KIND_SERVER for span in spans):
            break
    return spans


SERVER: Final = "reference --profile intelgraph --no-ledger --telemetry {otlp}"
"""A separate server: the spans of other trials would hide those of this one."""
KIND_SERVER: Final = 2
STATUS_ERROR: Final = 2
"""As OTLP encodes the kind SERVER and the status ERROR."""
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


class TracedRequest(Struct, frozen=True):
    """A request, the trace and parent that its `_meta` names, and its span of kind SERVER."""

    exchange: Exchange
    trace: str
    parent: str
    span: Span | None
    elsewhere: Span | None = None
    """A span of its method in another trace, where no span is in the driver's traces."""

    @property
    def frames(self) -> tuple[Frame, ...]:
        spans = (self.span, self.elsewhere)
        return self.exchange.frames + tuple(span.frame for span in spans if span is not None)

    @property
    def is_known(self) -> bool:
        """Whether the server has the method. It need not repeat the name of an unknown one."""
        return bool(self.exchange.code != UNKNOWN_METHOD)

    @property
    def target(self) -> str | None:
        """The name of the tool or prompt."""
        name = self.exchange.params.get("name")
        return name if isinstance(name, str) else None


def traced_requests(trace: Trace) -> Iterator[TracedRequest]:
    """Every answered request with a trace context."""
    spans = [span for frame in trace.frames if frame.kind is Kind.SPAN if (span := _read(frame)) is not None]
    requests = [
        TracedRequest(exchange, trace_id, parent, _server_span(spans, trace_id, parent))
        for exchange, trace_id, parent in _traced(trace)
    ]
    if any(request.span is not None for request in requests):
        return iter(requests)
    return (msgspec.structs.replace(request, elsewhere=_elsewhere(spans, request)) for request in requests)


def _traced(trace: Trace) -> Iterator[tuple[Exchange, str, str]]:
    """Requests with the ids of their trace and of their parent span."""
    for exchange in trace.exchanges():
        meta = exchange.params.get("_meta")
        context = meta.get(PARENT) if isinstance(meta, dict) else None
        match str(context).split("-"):
            case [_, trace_id, parent, _] if exchange.answer is not None:
                yield exchange, trace_id, parent


def with_spans(trace: Trace) -> Iterator[tuple[TracedRequest, Span]]:
    return ((request, request.span) for request in traced_requests(trace) if request.span is not None)


def _server_span(spans: list[Span], trace_id: str, parent: str) -> Span | None:
    """A server may have several in one trace: the one closest to the driver is the request's."""
    candidates = [span for span in spans if span.trace == trace_id and span.kind == KIND_SERVER]
    return next((span for span in candidates if span.parent == parent), next(iter(candidates), None))


def _elsewhere(spans: list[Span], request: TracedRequest) -> Span | None:
    foreign = (span for span in spans if span.kind == KIND_SERVER and span.trace != request.trace)
    method = request.exchange.method
    return next((span for span in foreign if names_method(span.name, span.attributes, method)), None)


def names_method(name: str, attributes: Mapping[str, Any], method: str) -> bool:
    return method in (name.partition(" ")[0], attributes.get("mcp.method.name"), attributes.get("rpc.method"))


class _Status(Struct):
    code: int = 0


class _Exported(Struct):
    """The fields of an OTLP/JSON span that checks read."""

    trace_id: str = msgspec.field(name="traceId")
    name: str = ""
    kind: int = 0
    parent: str = msgspec.field(name="parentSpanId", default="")
    status: _Status = msgspec.field(default_factory=_Status)
    attributes: list[dict[str, Any]] = []


_decode: Final = msgspec.json.Decoder(_Exported).decode


def _read(frame: Frame) -> Span | None:
    """None for an invalid span: a stored trace may hold anything."""
    try:
        span = _decode(frame.raw)
        by_name = attributes({"attributes": span.attributes})
    except (msgspec.DecodeError, UnicodeDecodeError, ValueError, TypeError, AttributeError):
        return None
    return Span(frame, span.name, span.kind, span.trace_id, span.parent, span.status.code, by_name)


# --- what is asked


UNKNOWN: Final = "no-such-thing-of-the-lab"
LISTS: Final = ("tools", "resources", "prompts")


@scenario(
    "Send each request in a new trace",
    exercises=("obs.spans", "obs.names", "obs.conventions", "obs.parent", "obs.errors"),
    needs=(EXPORTED_SPANS,),
    transports=BOTH,
)
async def drive_traced_requests(stage: Stage) -> None:
    peer = await stage.open()
    methods = {}
    for request in [*_lists(stage.facts), *safe_requests_for(stage.facts), *_wrong(stage.facts)]:
        trace_id, meta = new_trace()
        methods[trace_id] = request.method
        await request.ask(peer, meta)
    await record_spans(stage, methods)


def _lists(facts: Facts) -> list[SafeRequest]:
    return [SafeRequest(f"{kind}/list", {}) for kind in LISTS if kind in facts.capabilities]


def _wrong(facts: Facts) -> list[SafeRequest]:
    """Requests that fail because of the client."""
    unknown = [SafeRequest(f"lab/{UNKNOWN}", {})]
    if "tools" in facts.capabilities:
        unknown.append(SafeRequest("tools/call", {"name": UNKNOWN, "arguments": {}}))
    if "prompts" in facts.capabilities:
        unknown.append(SafeRequest("prompts/get", {"name": UNKNOWN}))
    return unknown


# --- how it is judged

SPANS: Final = "CONF-OBS-05.spans"
NAMES: Final = "CONF-OBS-05.names"
CONVENTIONS: Final = "CONF-OBS-05.conventions"
PARENTS: Final = "CONF-OBS-05.parent"
ERRORS: Final = "CONF-OBS-05.errors"


@profile_check("Every request has a span", requirements=(SPANS,))
def judge_spans(trace: Trace) -> Iterator[Observation]:
    requests = list(traced_requests(trace))
    is_silent = not any(request.span or request.elsewhere for request in requests)
    for request in requests:
        if request.elsewhere is not None:
            continue  # it may be this request's: that it is in another trace breaks another requirement
        expected = "a span of kind SERVER in the trace that the _meta of the request names"
        others = ", and none for any request" if is_silent else ""
        observed = f"no such span for {request.exchange.method}{others}"
        yield observe(SPANS, request.span is not None, request, expected=expected, observed=observed)


TRANSPORTS: Final = {"stdio": ("stdio",), "http": ("http", "sse")}
"""Words in the names of each transport, such as `http+sse` or `streamable-http`."""
TARGETED: Final = ("tools/call", "prompts/get")


@profile_check("Spans have the attributes of the profile", requirements=(NAMES,))
def judge_names(trace: Trace) -> Iterator[Observation]:
    for request, span in with_spans(trace):
        expected = dict(_profile_attributes(request, trace.transport))
        wrong = wrong_attributes(expected, span.attributes)
        yield observe(NAMES, not wrong, request, expected=_listed(expected), observed=", ".join(wrong))


def _listed(expected: Mapping[str, Attribute]) -> str:
    return ", ".join(f"{name}={attribute}" for name, attribute in expected.items())


def _profile_attributes(request: TracedRequest, transport: str) -> Iterator[tuple[str, Attribute]]:
    method = request.exchange.method
    yield "rpc.method", Attribute(method if request.is_known else None)
    yield "transport.type", Attribute(within=TRANSPORTS.get(transport, ()))
    # A server need not repeat the name of what it does not have.
    if method in (*TARGETED, "resources/read") and request.exchange.result is not None:
        yield "capability.name", Attribute(request.target)


NETWORK: Final = {"stdio": ("pipe",), "http": ("tcp", "quic", "unix")}


@profile_check("Spans follow the conventions for MCP", requirements=(CONVENTIONS,))
def judge_conventions(trace: Trace) -> Iterator[Observation]:
    for request, span in with_spans(trace):
        expected, name = dict(_convention_attributes(request, trace)), _span_name(request)
        wrong = wrong_attributes(expected, span.attributes)
        if not span.name or name not in (None, span.name):
            wrong.append(f"name {span.name!r}")
        listed = f"name {name!r}, {_listed(expected)}"
        yield observe(CONVENTIONS, not wrong, request, expected=listed, observed=", ".join(wrong))


def _convention_attributes(request: TracedRequest, trace: Trace) -> Iterator[tuple[str, Attribute]]:
    yield "mcp.method.name", Attribute(request.exchange.method if request.is_known else None)
    yield "jsonrpc.request.id", Attribute(str(request.exchange.request.id))
    yield "mcp.protocol.version", Attribute(trace.header.revision)
    yield "network.transport", Attribute(within=NETWORK.get(trace.transport, ()))


def _span_name(request: TracedRequest) -> str | None:
    """None where the server need not repeat an unknown name."""
    method, is_targeted = request.exchange.method, request.exchange.method in TARGETED
    if not request.is_known or (is_targeted and request.exchange.result is None):
        return None
    return f"{method} {request.target}" if is_targeted and request.target is not None else method


@profile_check("The traceparent of a request is the parent of its span", requirements=(PARENTS,))
def judge_parent(trace: Trace) -> Iterator[Observation]:
    for request in traced_requests(trace):
        expected = f"parent {request.parent} in trace {request.trace}, as the _meta of the request says"
        method = request.exchange.method
        if request.span is not None:
            holds = request.span.parent == request.parent
            observed = f"parent {request.span.parent or 'none'} for {method}"
            yield observe(PARENTS, holds, request, expected=expected, observed=observed)
        elif request.elsewhere is not None:
            observed = f"spans of {method} in other traces only, such as {request.elsewhere.trace}"
            yield observe(PARENTS, False, request, expected=expected, observed=observed)


CLIENT_ERRORS: Final = frozenset({-32700, -32600, -32601, -32602, -32002})
"""Codes for errors of the client. Of the others, only -32603 says that the server failed."""


@profile_check("A span has status ERROR where the server failed", requirements=(ERRORS,))
def judge_errors(trace: Trace) -> Iterator[Observation]:
    for request, span in with_spans(trace):
        failed = _server_failed(request.exchange)
        if failed is None:
            continue
        expected = "status ERROR and error.type" if failed else "no status ERROR"
        holds = (span.status == STATUS_ERROR) is failed and (not failed or "error.type" in span.attributes)
        status = f"status {span.status}, error.type {span.attributes.get('error.type', 'absent')}"
        observed = f"{status} for {request.exchange.method}, which ended with {request.exchange}"
        yield observe(ERRORS, holds, request, expected=expected, observed=observed)


def _server_failed(exchange: Exchange) -> bool | None:
    """None where the reply does not show whose fault it is."""
    if exchange.result is not None:
        return exchange.result.get("isError") is True
    if exchange.code in CLIENT_ERRORS:
        return False
    return True if exchange.code == -32603 else None


# --- what the checks must catch


def _without(name: str) -> OnSpan:
    def change(span: Json) -> Json:
        return {**span, "attributes": [pair for pair in span.get("attributes", []) if pair["key"] != name]}

    return change


def _with_attribute(name: str, value: str) -> OnSpan:
    def change(span: Json) -> Json:
        pairs = span.get("attributes", [])
        new = {"key": name, "value": {"stringValue": value}}
        return {**span, "attributes": [new if pair["key"] == name else pair for pair in pairs]}

    return change


def _with_fields(**fields: object) -> OnSpan:
    return lambda span: {**span, **fields}


def _drop(field: str) -> OnSpan:
    return lambda span: {name: value for name, value in span.items() if name != field}


def _drop_lists(span: Json) -> Json | None:
    return None if span["name"].endswith("/list") else span


def _client_error_as_failure(span: Json) -> Json:
    code = {"key": "rpc.response.status_code", "value": {"stringValue": "-32601"}}
    return {**span, "status": {"code": STATUS_ERROR}} if code in span.get("attributes", []) else span


NEW_TRACE: Final = {"traceId": "0af7651916cd43dd8448eb211c80319c", "parentSpanId": ""}
# Faults that are tried at every revision, then others of the same requirements, tried at the newest ones.
FAULTS: Final = tuple(
    on_span(fault, id=f"obs.{name}", breaks=breaks, server=SERVER)(change)
    for name, fault, breaks, change in (
        ("no-spans", "exports no spans", SPANS, lambda span: None),
        ("no-method", "omits rpc.method", NAMES, _without("rpc.method")),
        ("own-method-name", "omits mcp.method.name", CONVENTIONS, _without("mcp.method.name")),
        ("roots", "starts a trace with every span", PARENTS, _drop("parentSpanId")),
        ("never-failed", "reports a failed tool as a successful span", ERRORS, _drop("status")),
    )
) + tuple(
    on_span(fault, id=f"obs.{name}", breaks=breaks, server=SERVER, window=newest_of_each_kind)(change)
    for name, fault, breaks, change in (
        ("inner-spans", "exports requests as spans of kind INTERNAL", SPANS, _with_fields(kind=1)),
        ("lists-unseen", "exports no spans for lists", SPANS, _drop_lists),
        ("another-capability", "names another tool", NAMES, _with_attribute("capability.name", "another")),
        ("no-capability", "omits capability.name", NAMES, _without("capability.name")),
        ("no-transport", "omits transport.type", NAMES, _without("transport.type")),
        (
            "another-version",
            "names another protocol version",
            CONVENTIONS,
            _with_attribute("mcp.protocol.version", "1999-12-31"),
        ),
        ("no-network", "omits network.transport", CONVENTIONS, _without("network.transport")),
        ("no-request-id", "omits jsonrpc.request.id", CONVENTIONS, _without("jsonrpc.request.id")),
        ("one-name", "calls every span request", CONVENTIONS, _with_fields(name="request")),
        ("other-parent", "names an unknown parent", PARENTS, _with_fields(parentSpanId="00f067aa0ba902b7")),
        ("own-traces", "puts spans into new traces", PARENTS, _with_fields(**NEW_TRACE)),
        ("callers-alarm", "reports an unknown method as a failure", ERRORS, _client_error_as_failure),
        ("no-error-type", "omits error.type", ERRORS, _without("error.type")),
    )
)
