"""Telemetry without the OpenTelemetry SDK, as used by `assay serve`.

A span of the SDK takes longer than serving a call. These spans are the same on the wire, but another thread
encodes them after the response. A host with its own providers uses `Telemetry`.
"""

from __future__ import annotations

from random import getrandbits
from time import time_ns
from typing import Any, Final

from opentelemetry import context as contexts
from opentelemetry import trace
from opentelemetry.trace import NonRecordingSpan, SpanContext, TraceFlags

from assay.protocol.middleware import Ending, Host, Middleware, Serve
from assay.protocol.middleware import ServedCall as Call

from .labels import INITIALIZE, MAX_LENGTH, NETWORK, VERSION, MethodLabels
from .otlp import RequestSpan
from .outbox import Outbox
from .outcome import OK, of_exception, of_result
from .parent import Parent
from .subject import read_params

SAMPLED: Final = TraceFlags(TraceFlags.SAMPLED)
NOTHING: Final[dict[str, str]] = {}


class DirectTelemetry(Middleware):
    """Like `Telemetry`; add it to a server before other middleware."""

    def __init__(self, outbox: Outbox) -> None:
        self._outbox = outbox
        self._parent = Parent()

    def join(self, server: Host, /) -> None:
        self._host = server

    def wrap(self, method: str, serve: Serve, /) -> Serve:
        method_labels = MethodLabels(self._host, method, profile=True)
        put = self._outbox.put

        async def observed(call: Call) -> Any:
            began = time_ns()
            params = read_params(call)
            labels = method_labels.of(call, params)
            context, links = self._parent.of(params.meta, call.scope.raw_headers)
            parent = trace.get_current_span(context).get_span_context()
            span = _new_span(parent)
            token = contexts.attach(trace.set_span_in_context(NonRecordingSpan(span), context))
            outcome, negotiated = OK, NOTHING
            try:
                result = await serve(call)
                outcome = of_result(result)
                if method == INITIALIZE:
                    negotiated = {VERSION: result.protocol_version}
                    self._watch(call, began, negotiated)
                return result
            except BaseException as error:
                if call.ending_of(error) is Ending.FAILED:
                    outcome = of_exception(error, call.peer.revision)
                raise
            finally:
                contexts.detach(token)
                if span.trace_flags & TraceFlags.SAMPLED:
                    parent_id, state = (parent.span_id, parent.trace_state) if parent.is_valid else (0, None)
                    linked = tuple((link.context.trace_id, link.context.span_id) for link in links)
                    header = state.to_header() if state else ""
                    extra = {**_request_ids(call), **negotiated}
                    ids = (span.trace_id, span.span_id, parent_id, header, linked)
                    put(RequestSpan(labels, *ids, began, time_ns(), extra, outcome, negotiated))

        return observed

    def _watch(self, call: Call, began: int, negotiated: dict[str, str]) -> None:
        """Record the duration of the session that begins here, when it ends."""
        if call.session is None:
            return
        attributes = {**negotiated, **NETWORK.get(call.scope.transport, {})}
        record = self._outbox.session
        call.session.endings += (lambda: record((time_ns() - began) / 1e9, attributes),)


def _new_span(parent: SpanContext) -> SpanContext:
    """A child of the parent, sampled if that is; without a parent, the root of a new trace."""
    if parent.is_valid:
        flags = SAMPLED if parent.trace_flags.sampled else TraceFlags()
        return SpanContext(parent.trace_id, getrandbits(64) or 1, False, flags, parent.trace_state)
    return SpanContext(getrandbits(128) or 1, getrandbits(64) or 1, False, SAMPLED)


def _request_ids(call: Call) -> dict[str, str]:
    number = str(call.id)[:MAX_LENGTH]
    ids = {"jsonrpc.request.id": number, "rpc.id": number}
    if call.session is not None and call.session.id:
        ids["mcp.session.id"] = call.session.id
    return ids
