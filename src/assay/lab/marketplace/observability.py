"""Spans: one per request, named and linked as OpenTelemetry's conventions say."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, Final

import msgspec
from msgspec import Struct

from assay.lab.harness import Json, Observation, Stage, Trace, observe, scenario
from assay.lab.harness.driver.safe_request import SafeRequest, errands
from assay.lab.harness.need import SPANS_TO_SEE
from assay.lab.harness.sabotage import saboteur
from assay.lab.harness.sabotage.saboteur import newest_of_each_kind
from assay.lab.harness.subject.facts import Facts
from assay.lab.harness.subject.otlp import attributes
from assay.lab.harness.subject.out_of_band import Spans
from assay.lab.harness.trace.frame import Frame, Kind
from assay.lab.harness.trace.trace import Exchange

from .declaration import BOTH, profile_check

AREA = "obs"
"""As ids have it."""


class Wanted(Struct, frozen=True):
    """This text; else one that has one of these words in it; else any that is not empty."""

    text: str | None = None
    within: tuple[str, ...] = ()

    def fits(self, value: Any) -> bool:
        if not isinstance(value, str) or not value:
            return False
        if self.text is not None:
            return value == self.text
        return not self.within or any(word in value for word in self.within)

    def __str__(self) -> str:
        return self.text or " or ".join(self.within) or "something"


def complaints(wanted: Mapping[str, Wanted], found: Mapping[str, Any]) -> list[str]:
    """The attributes that are not as they should be, as they are."""
    return [
        f"{name}={found[name]!r}" if name in found else f"no {name}"
        for name, one in wanted.items()
        if not one.fits(found.get(name))
    ]


def new_trace() -> tuple[str, dict[str, str]]:
    """The id of a new trace, and what the `_meta` of a request says to belong to it."""
    trace_id = secrets.token_hex(16)
    return trace_id, {PARENT: f"00-{trace_id}-{secrets.token_hex(8)}-01"}


async def hear_spans(stage: Stage, methods: dict[str, str]) -> None:
    """Record the spans of these traces, of which each has one request, of that method: they come in the
    server's own time, and no later than ours ends."""
    ends = time.monotonic() + stage.patience
    found = await asyncio.gather(*(_spans_of(stage, one, ends) for one in methods))
    spans = [span for of_one in found for span in of_one]
    # A server may not care for our traces, and have spans all the same.
    for span in spans or _elsewhere(_source(stage).every(), set(methods.values())):
        stage.hear_span(msgspec.json.encode(span))


def _source(stage: Stage) -> Spans:
    source = stage.surroundings.spans
    assert source is not None, "the scenario must need SPANS_TO_SEE"
    return source


def _elsewhere(spans: list[dict[str, Any]], methods: set[str]) -> list[dict[str, Any]]:
    """The last span of each of these methods."""
    found: dict[str, dict[str, Any]] = {}
    for span in spans:
        for method in methods:
            if names_method(str(span.get("name")), attributes(span), method):
                found[method] = span
    return list(found.values())


async def _spans_of(stage: Stage, trace_id: str, ends: float) -> list[dict[str, Any]]:
    """Until there is one of kind SERVER: spans within it end before it does, and may come before it."""
    found: list[dict[str, Any]] = []
    while (left := ends - time.monotonic()) > 0:
        before = len(found)
        found = await _source(stage).of(trace_id, left, before + 1)
        if len(found) == before or any(span.get("kind") == OBS_SPANS_SERVER for span in found):
            break
    return found


SERVER: Final = "reference --profile intelgraph --telemetry {otlp}"
"""No other fault is tried before it: spans of their conversations would hide the few that are looked at."""
on_span = partial(saboteur.on_span, server=SERVER)


def without(span: Json, name: str) -> Json:
    kept = [one for one in span.get("attributes", []) if one["key"] != name]
    return {**span, "attributes": kept}


def having(span: Json, name: str, value: str) -> Json:
    """With another value, where it has one."""
    changed = [
        {"key": name, "value": {"stringValue": value}} if one["key"] == name else one
        for one in span.get("attributes", [])
    ]
    return {**span, "attributes": changed}


def has(span: Json, name: str, value: str) -> bool:
    return {"key": name, "value": {"stringValue": value}} in span.get("attributes", [])


OBS_SPANS_SERVER: Final = 2
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
    return (msgspec.structs.replace(one, elsewhere=_obs_spans_elsewhere(spans, one)) for one in found)


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
    fits = [one for one in spans if one.trace == trace_id and one.kind == OBS_SPANS_SERVER]
    return next((one for one in fits if one.parent == parent), fits[0] if fits else None)


def _obs_spans_elsewhere(spans: list[Span], one: Followed) -> Span | None:
    return next(
        (
            span
            for span in spans
            if span.kind == OBS_SPANS_SERVER
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


# --- what is asked


NOBODY = "no-such-thing-of-the-lab"
LISTS = ("tools", "resources", "prompts")


@scenario(
    "Requests in traces of their own",
    exercises=("obs.spans", "obs.names", "obs.conventions", "obs.parent", "obs.errors"),
    needs=(SPANS_TO_SEE,),
    transports=BOTH,
)
async def drive_traced_requests(stage: Stage) -> None:
    peer = await stage.open()
    methods = {}
    for errand in [*_lists(stage.facts), *errands(stage.facts), *_wrong(stage.facts)]:
        trace_id, meta = new_trace()
        methods[trace_id] = errand.method
        await errand.ask(peer, meta)
    await hear_spans(stage, methods)


def _lists(facts: Facts) -> list[SafeRequest]:
    return [SafeRequest(f"{kind}/list", {}) for kind in LISTS if kind in facts.capabilities]


def _wrong(facts: Facts) -> list[SafeRequest]:
    """What is the driver's fault, and not the server's."""
    unknown = [SafeRequest(f"lab/{NOBODY}", {})]
    if "tools" in facts.capabilities:
        unknown.append(SafeRequest("tools/call", {"name": NOBODY, "arguments": {}}))
    if "prompts" in facts.capabilities:
        unknown.append(SafeRequest("prompts/get", {"name": NOBODY}))
    return unknown


# --- how it is judged


ROW: Final = "CONF-OBS-05.spans"


@profile_check("Every request becomes a span", requirements=(ROW,))
def judge_spans(trace: Trace) -> Iterator[Observation]:
    requests = list(followed(trace))
    is_silent = not any(one.span or one.elsewhere for one in requests)
    for one in requests:
        if one.elsewhere is not None:
            continue  # it may well be this one's: that it is in no trace of ours is for another row
        wanted = "a span of kind SERVER in the trace that the _meta of the request names"
        seen = f"no such span for {one.exchange.method}{', and none for any request' if is_silent else ''}"
        yield observe(ROW, one.span is not None, one, expected=wanted, observed=seen)


NAMES_ROW: Final = "CONF-OBS-05.names"
TRANSPORTS: Final = {"stdio": ("stdio",), "http": ("http", "sse")}
"""What the name of each transport has in it: `http+sse`, `streamable-http`."""
ABOUT: Final = ("tools/call", "resources/read", "prompts/get")


@profile_check("Spans carry what the profile asks for", requirements=(NAMES_ROW,))
def judge_names(trace: Trace) -> Iterator[Observation]:
    for one, span in spanned(trace):
        wanted = dict(_wanted(one, trace.transport))
        lacking = complaints(wanted, span.attributes)
        told = ", ".join(f"{name}={value}" for name, value in wanted.items())
        yield observe(NAMES_ROW, not lacking, one, expected=told, observed=", ".join(lacking))


def _wanted(one: Followed, transport: str) -> Iterator[tuple[str, Wanted]]:
    yield "rpc.method", Wanted(one.exchange.method if one.is_known else None)
    yield "transport.type", Wanted(within=TRANSPORTS.get(transport, ()))
    if one.exchange.method in ABOUT and _is_there(one):
        yield "capability.name", Wanted(one.target)


def _is_there(one: Followed) -> bool:
    """Of what a server does not have, it need not repeat the name."""
    return one.exchange.result is not None


CONVENTIONS_ROW: Final = "CONF-OBS-05.conventions"
NETWORK: Final = {"stdio": ("pipe",), "http": ("tcp", "quic", "unix")}
TARGETED: Final = ("tools/call", "prompts/get")


@profile_check("Spans keep to the conventions for MCP", requirements=(CONVENTIONS_ROW,))
def judge_conventions(trace: Trace) -> Iterator[Observation]:
    for one, span in spanned(trace):
        wanted = dict(_conventions_wanted(one, trace))
        name = _name(one)
        lacking = complaints(wanted, span.attributes) + (
            [] if _is_named(name, span) else [f"name {span.name!r}"]
        )
        told = ", ".join(f"{key}={value}" for key, value in wanted.items())
        yield observe(
            CONVENTIONS_ROW, not lacking, one, expected=f"name {name!r}, {told}", observed=", ".join(lacking)
        )


def _conventions_wanted(one: Followed, trace: Trace) -> Iterator[tuple[str, Wanted]]:
    yield "mcp.method.name", Wanted(one.exchange.method if one.is_known else None)
    yield "jsonrpc.request.id", Wanted(str(one.exchange.request.id))
    yield "mcp.protocol.version", Wanted(trace.header.revision)
    yield "network.transport", Wanted(within=NETWORK.get(trace.transport, ()))


def _name(one: Followed) -> str | None:
    """None where the server need not repeat what it does not know."""
    if not one.is_known or (one.exchange.method in TARGETED and one.exchange.result is None):
        return None
    target = one.target if one.exchange.method in TARGETED else None
    return one.exchange.method if target is None else f"{one.exchange.method} {target}"


def _is_named(name: str | None, span: Span) -> bool:
    return bool(span.name) if name is None else span.name == name


PARENT_ROW: Final = "CONF-OBS-05.parent"


@profile_check("The traceparent of a request is the parent of its span", requirements=(PARENT_ROW,))
def judge_parent(trace: Trace) -> Iterator[Observation]:
    for one in followed(trace):
        wanted = f"parent {one.parent} in trace {one.trace}, as the _meta of the request says"
        if one.span is not None:
            seen = f"parent {one.span.parent or 'none'} for {one.exchange.method}"
            yield observe(PARENT_ROW, one.span.parent == one.parent, one, expected=wanted, observed=seen)
        elif one.elsewhere is not None:
            seen = f"spans of {one.exchange.method} in other traces alone, as {one.elsewhere.trace}"
            yield observe(PARENT_ROW, False, one, expected=wanted, observed=seen)


ERRORS_ROW: Final = "CONF-OBS-05.errors"
CALLERS: Final = frozenset({-32700, -32600, -32601, -32602, -32002})
"""Codes of what the client did wrong, by the conventions; of others, only -32603 says whose fault it is."""
INTERNAL: Final = -32603


@profile_check("A span has failed where the server has", requirements=(ERRORS_ROW,))
def judge_errors(trace: Trace) -> Iterator[Observation]:
    for one, span in spanned(trace):
        failed = _failed(one.exchange)
        if failed is None:
            continue
        wanted = "status ERROR and error.type" if failed else "no status ERROR"
        right = (span.status == ERROR) is failed and (not failed or "error.type" in span.attributes)
        seen = f"status {span.status}, error.type {span.attributes.get('error.type', 'absent')}"
        told = f"{seen} for {one.exchange.method}, which ended with {one.exchange}"
        yield observe(ERRORS_ROW, right, one, expected=wanted, observed=told)


def _failed(exchange: Exchange) -> bool | None:
    """Whether it failed by the server's fault; none where that cannot be told."""
    if exchange.result is not None:
        return exchange.result.get("isError") is True
    if exchange.code in CALLERS:
        return False
    return True if exchange.code == INTERNAL else None


# --- what the checks must catch


@on_span("the spans of requests are of kind INTERNAL", breaks="CONF-OBS-05.spans", window=newest_of_each_kind)
def inner_spans(span: Json) -> Json | None:
    return {**span, "kind": 1}


@on_span("requests for lists have no span", breaks="CONF-OBS-05.spans", window=newest_of_each_kind)
def lists_unseen(span: Json) -> Json | None:
    return None if span["name"].endswith("/list") else span


@on_span("no span is exported", breaks="CONF-OBS-05.spans")
def no_spans(span: Json) -> Json | None:
    return None


@on_span("capability.name is of another tool", breaks="CONF-OBS-05.names", window=newest_of_each_kind)
def another_capability(span: Json) -> Json | None:
    return having(span, "capability.name", "another")


@on_span("spans do not carry capability.name", breaks="CONF-OBS-05.names", window=newest_of_each_kind)
def no_capability(span: Json) -> Json | None:
    return without(span, "capability.name")


@on_span("spans do not carry rpc.method", breaks="CONF-OBS-05.names")
def no_method(span: Json) -> Json | None:
    return without(span, "rpc.method")


@on_span("spans do not carry transport.type", breaks="CONF-OBS-05.names", window=newest_of_each_kind)
def no_transport(span: Json) -> Json | None:
    return without(span, "transport.type")


@on_span(
    "mcp.protocol.version is of another revision",
    breaks="CONF-OBS-05.conventions",
    window=newest_of_each_kind,
)
def another_version(span: Json) -> Json | None:
    return having(span, "mcp.protocol.version", "1999-12-31")


@on_span("spans do not carry network.transport", breaks="CONF-OBS-05.conventions", window=newest_of_each_kind)
def no_network(span: Json) -> Json | None:
    return without(span, "network.transport")


@on_span(
    "spans do not carry jsonrpc.request.id", breaks="CONF-OBS-05.conventions", window=newest_of_each_kind
)
def no_request_id(span: Json) -> Json | None:
    return without(span, "jsonrpc.request.id")


@on_span("every span is called request", breaks="CONF-OBS-05.conventions", window=newest_of_each_kind)
def one_name(span: Json) -> Json | None:
    return {**span, "name": "request"}


@on_span("spans do not carry mcp.method.name", breaks="CONF-OBS-05.conventions")
def own_method_name(span: Json) -> Json | None:
    return without(span, "mcp.method.name")


@on_span(
    "spans have a parent that the client does not know",
    breaks="CONF-OBS-05.parent",
    window=newest_of_each_kind,
)
def other_parent(span: Json) -> Json | None:
    return {**span, "parentSpanId": "00f067aa0ba902b7"}


@on_span(
    "the trace of a request is not gone on with", breaks="CONF-OBS-05.parent", window=newest_of_each_kind
)
def own_traces(span: Json) -> Json | None:
    return {**span, "traceId": "0af7651916cd43dd8448eb211c80319c", "parentSpanId": ""}


@on_span("every span begins its trace", breaks="CONF-OBS-05.parent")
def roots(span: Json) -> Json | None:
    return {name: value for name, value in span.items() if name != "parentSpanId"}


@on_span(
    "a request of an unknown method is a span with an error",
    breaks="CONF-OBS-05.errors",
    window=newest_of_each_kind,
)
def callers_alarm(span: Json) -> Json | None:
    refused = has(span, "rpc.response.status_code", "-32601")
    return {**span, "status": {"code": 2}} if refused else span


@on_span("a tool that failed is a span without an error", breaks="CONF-OBS-05.errors")
def never_failed(span: Json) -> Json | None:
    return {name: value for name, value in span.items() if name != "status"}


@on_span(
    "a span with an error does not say of which type", breaks="CONF-OBS-05.errors", window=newest_of_each_kind
)
def no_error_type(span: Json) -> Json | None:
    return without(span, "error.type")
