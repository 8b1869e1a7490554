"""A span and a duration for each request."""

from __future__ import annotations

from time import perf_counter
from typing import Any, Final

from opentelemetry import context as contexts
from opentelemetry import metrics, trace
from opentelemetry.metrics import MeterProvider
from opentelemetry.trace import Span, SpanKind, Status, StatusCode, TracerProvider

from assay.protocol.middleware import Ending, Host, Middleware, Serve
from assay.protocol.middleware import ServedCall as Call

from .labels import (
    BUCKETS,
    INITIALIZE,
    MAX_LENGTH,
    NETWORK,
    OPERATIONS,
    SESSIONS,
    VERSION,
    Labels,
    MethodLabels,
)
from .outcome import OK, Outcome, of_exception, of_result
from .parent import Parent
from .subject import read_params

SCOPE: Final = "assay"


class Telemetry(Middleware):
    """Add it to a server with `Server.use`, before other middleware, so that it covers its work.

    Without providers the global ones are used, even if they are set later. `profile` adds the attributes of
    the marketplace profile: `rpc.method`, `transport.type`, `capability.name` and others.
    """

    def __init__(
        self,
        *,
        tracer_provider: TracerProvider | None = None,
        meter_provider: MeterProvider | None = None,
        profile: bool = True,
    ) -> None:
        self._tracer = trace.get_tracer(SCOPE, tracer_provider=tracer_provider)
        meter = metrics.get_meter(SCOPE, meter_provider=meter_provider)
        self._operations = meter.create_histogram(
            OPERATIONS, "s", "Duration of a request", explicit_bucket_boundaries_advisory=BUCKETS
        )
        self._sessions = meter.create_histogram(
            SESSIONS, "s", "Duration of a session", explicit_bucket_boundaries_advisory=BUCKETS
        )
        self._profile = profile
        self._parent = Parent()

    def join(self, server: Host, /) -> None:
        self._host = server

    def wrap(self, method: str, serve: Serve, /) -> Serve:
        method_labels = MethodLabels(self._host, method, profile=self._profile)

        async def observed(call: Call) -> Any:
            began = perf_counter()
            params = read_params(call)
            labels = method_labels.of(call, params)
            span, token = self._start(labels, call, params.meta)
            outcome, negotiated = OK, None
            try:
                result = await serve(call)
                outcome = of_result(result)
                if method == INITIALIZE:
                    negotiated = result.protocol_version
                    self._watch(call, began, negotiated)
                return result
            except BaseException as error:
                if call.ending_of(error) is Ending.FAILED:
                    outcome = of_exception(error, call.peer.revision)
                raise
            finally:
                contexts.detach(token)
                _finish(span, outcome, negotiated)
                self._measure(perf_counter() - began, labels, outcome, negotiated)

        return observed

    def _start(self, labels: Labels, call: Call, meta: Any) -> tuple[Span, Any]:
        parent, links = self._parent.of(meta, call.scope.raw_headers)
        attributes = labels.span | {"jsonrpc.request.id": str(call.id)[:MAX_LENGTH]}
        if self._profile:
            attributes["rpc.id"] = attributes["jsonrpc.request.id"]
        if call.session is not None and call.session.id:
            attributes["mcp.session.id"] = call.session.id
        span = self._tracer.start_span(labels.name, parent, SpanKind.SERVER, attributes, links)
        return span, contexts.attach(trace.set_span_in_context(span, parent))

    def _measure(self, seconds: float, labels: Labels, outcome: Outcome, negotiated: str | None) -> None:
        attributes = labels.metric
        if outcome is not OK or negotiated is not None:
            attributes = attributes | _later(outcome, negotiated)
        self._operations.record(seconds, attributes)

    def _watch(self, call: Call, began: float, version: str) -> None:
        """Record the duration of the session that begins here, when it ends."""
        if call.session is None:
            return
        attributes = {VERSION: version, **NETWORK.get(call.scope.transport, {})}
        record = self._sessions.record
        call.session.endings += (lambda: record(perf_counter() - began, attributes),)


def _finish(span: Span, outcome: Outcome, negotiated: str | None) -> None:
    if span.is_recording() and (outcome is not OK or negotiated is not None):
        span.set_attributes(_later(outcome, negotiated))
        if outcome.error is not None:
            span.set_status(Status(StatusCode.ERROR, outcome.text))
    span.end()


def _later(outcome: Outcome, negotiated: str | None) -> dict[str, str]:
    """The attributes that are known only after the request."""
    return outcome.attributes if negotiated is None else outcome.attributes | {VERSION: negotiated}
