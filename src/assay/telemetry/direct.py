"""Telemetry that goes straight to a collector: what `assay serve` puts around a server.

Spans of OpenTelemetry's SDK take longer than a whole call is served. These are the same on the wire, and are
written after the answer, by another thread. Where a host has providers of its own, `Telemetry` is for it.
"""

from __future__ import annotations

from random import getrandbits
from time import time_ns
from typing import Any, Final, TypeVar

from opentelemetry import context as contexts
from opentelemetry import trace
from opentelemetry.trace import NonRecordingSpan, SpanContext, TraceFlags

from assay.protocol.layer import Host, Serve
from assay.protocol.layer import LayeredCall as Call

from .labels import INITIALIZE, LONGEST, NETWORK, VERSION, Labelling
from .outbox import Outbox
from .outcome import FINE, of_exception, of_result
from .parent import Parent
from .served import Served
from .subject import read_params

A = TypeVar("A")
SAMPLED: Final = TraceFlags(TraceFlags.SAMPLED)
NOTHING: Final[dict[str, str]] = {}


class DirectTelemetry:
    """A layer, as `Telemetry`; put it around a server before other layers."""

    def __init__(self, outbox: Outbox) -> None:
        self._outbox = outbox
        self._parent = Parent()

    def join(self, server: Host, /) -> None:
        self._host = server

    def publish(self, app: A, /) -> A:
        return app

    def wrap(self, method: str, serve: Serve, /) -> Serve:
        labelling = Labelling(self._host, method, profile=True)
        put = self._outbox.put

        async def observed(call: Call) -> Any:
            began = time_ns()
            params = read_params(call)
            labels = labelling.of(call, params)
            context, links = self._parent.of(params.meta, call.scope.raw_headers)
            around = trace.get_current_span(context).get_span_context()
            own = _own(around)
            token = contexts.attach(trace.set_span_in_context(NonRecordingSpan(own), context))
            outcome, agreed = FINE, NOTHING
            try:
                result = await serve(call)
                outcome = of_result(result)
                if method == INITIALIZE:
                    agreed = {VERSION: result.protocol_version}
                    self._watch(call, began, agreed)
                return result
            except BaseException as error:
                outcome = of_exception(error, call.peer.revision)
                raise
            finally:
                contexts.detach(token)
                if own.trace_flags & TraceFlags.SAMPLED:
                    parent, state = (around.span_id, around.trace_state) if around.is_valid else (0, None)
                    linked = tuple((link.context.trace_id, link.context.span_id) for link in links)
                    header = state.to_header() if state else ""
                    more = {**_more(call), **agreed}
                    ids = (own.trace_id, own.span_id, parent, header, linked)
                    put(Served(labels, *ids, began, time_ns(), more, outcome, agreed))

        return observed

    def _watch(self, call: Call, began: int, agreed: dict[str, str]) -> None:
        """Measure the session that begins here, when it ends."""
        if call.session is None:
            return
        about, told = {**agreed, **NETWORK.get(call.scope.transport, {})}, self._outbox.session
        call.session.endings += (lambda: told((time_ns() - began) / 1e9, about),)


def _own(around: SpanContext) -> SpanContext:
    """A new span of the trace around it, and of its mind about being told; else the first of a new trace."""
    if around.is_valid:
        flags = SAMPLED if around.trace_flags.sampled else TraceFlags()
        return SpanContext(around.trace_id, getrandbits(64) or 1, False, flags, around.trace_state)
    return SpanContext(getrandbits(128) or 1, getrandbits(64) or 1, False, SAMPLED)


def _more(call: Call) -> dict[str, str]:
    number = str(call.id)[:LONGEST]
    more = {"jsonrpc.request.id": number, "rpc.id": number}
    if call.session is not None and call.session.id:
        more["mcp.session.id"] = call.session.id
    return more
