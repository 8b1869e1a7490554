"""A span and a measured time for each request of a server."""

from __future__ import annotations

from time import perf_counter
from typing import Any, Final, TypeVar

from opentelemetry import context as contexts
from opentelemetry import metrics, trace
from opentelemetry.metrics import MeterProvider
from opentelemetry.trace import Span, SpanKind, Status, StatusCode, TracerProvider

from assay.protocol.layer import Host, Serve
from assay.protocol.layer import LayeredCall as Call

from .labels import BUCKETS, INITIALIZE, LONGEST, NETWORK, OPERATIONS, SESSIONS, VERSION, Labelling, Labels
from .outcome import FINE, Outcome, of_exception, of_result
from .parent import Parent
from .subject import read_params

A = TypeVar("A")
SCOPE: Final = "assay"


class Telemetry:
    """Put around a server with `Server.use`, before other layers, so that their work is seen as well.

    Without providers the global ones are used, also when they are set later. `profile` adds the names that
    the marketplace's profile has for the same: `rpc.method`, `transport.type`, `capability.name` and others.
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
            OPERATIONS, "s", "How long a request was served", explicit_bucket_boundaries_advisory=BUCKETS
        )
        self._sessions = meter.create_histogram(
            SESSIONS, "s", "How long a session lasted", explicit_bucket_boundaries_advisory=BUCKETS
        )
        self._profile = profile
        self._parent = Parent()

    def join(self, server: Host, /) -> None:
        self._host = server

    def publish(self, app: A, /) -> A:
        return app

    def wrap(self, method: str, serve: Serve, /) -> Serve:
        labelling = Labelling(self._host, method, profile=self._profile)

        async def observed(call: Call) -> Any:
            began = perf_counter()
            params = read_params(call)
            labels = labelling.of(call, params)
            span, token = self._start(labels, call, params.meta)
            outcome, agreed = FINE, None
            try:
                result = await serve(call)
                outcome = of_result(result)
                if method == INITIALIZE:
                    agreed = result.protocol_version
                    self._watch(call, began, agreed)
                return result
            except BaseException as error:
                outcome = of_exception(error, call.peer.revision)
                raise
            finally:
                contexts.detach(token)
                _finish(span, outcome, agreed)
                self._measure(perf_counter() - began, labels, outcome, agreed)

        return observed

    def _start(self, labels: Labels, call: Call, meta: Any) -> tuple[Span, Any]:
        parent, links = self._parent.of(meta, call.scope.raw_headers)
        about = labels.span | {"jsonrpc.request.id": str(call.id)[:LONGEST]}
        if self._profile:
            about["rpc.id"] = about["jsonrpc.request.id"]
        if call.session is not None and call.session.id:
            about["mcp.session.id"] = call.session.id
        span = self._tracer.start_span(labels.name, parent, SpanKind.SERVER, about, links)
        return span, contexts.attach(trace.set_span_in_context(span, parent))

    def _measure(self, seconds: float, labels: Labels, outcome: Outcome, agreed: str | None) -> None:
        about = labels.metric
        if outcome is not FINE or agreed is not None:
            about = about | _later(outcome, agreed)
        self._operations.record(seconds, about)

    def _watch(self, call: Call, began: float, version: str) -> None:
        """Measure the session that begins here, when it ends."""
        if call.session is None:
            return
        about = {VERSION: version, **NETWORK.get(call.scope.transport, {})}
        record = self._sessions.record
        call.session.endings += (lambda: record(perf_counter() - began, about),)


def _finish(span: Span, outcome: Outcome, agreed: str | None) -> None:
    if span.is_recording() and (outcome is not FINE or agreed is not None):
        span.set_attributes(_later(outcome, agreed))
        if outcome.error is not None:
            span.set_status(Status(StatusCode.ERROR, outcome.text))
    span.end()


def _later(outcome: Outcome, agreed: str | None) -> dict[str, str]:
    """What is known only when the request has been served."""
    return outcome.attributes if agreed is None else outcome.attributes | {VERSION: agreed}
