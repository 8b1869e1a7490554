"""A server with telemetry, whose spans and metrics stay in this process."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Mapping
from typing import Any

from opentelemetry import baggage, trace
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import HistogramDataPoint, InMemoryMetricReader
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from assay import Context, Limits, RpcError, Scope, Server, ToolError
from assay.model.error import INTERNAL_ERROR
from assay.telemetry import Telemetry
from tests.driving.messages import request

FORM = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}


def make_server(**options: Any) -> Server:
    server = Server("observed", "1.2.3", **options)
    add_tools(server)
    add_data(server)
    return server


def add_tools(server: Server) -> None:
    @server.tool
    async def add(a: int, b: int) -> int:
        return a + b

    @server.tool
    async def where() -> dict[str, Any]:
        """The current span that the handler sees."""
        return _current()

    @server.tool
    def where_in_a_thread() -> dict[str, Any]:
        assert threading.current_thread() is not threading.main_thread()
        return _current()

    @server.tool
    async def fail(how: str) -> str:
        raise {
            "on purpose": ToolError("no"),
            "rpc": RpcError(INTERNAL_ERROR, "expected"),
            "params": RpcError(-32602, "bad"),
        }[how]

    @server.tool
    async def ask(ctx: Context) -> str:
        return (await ctx.elicit("Who?", FORM)).action

    @server.tool
    async def wait() -> None:
        await asyncio.Event().wait()


def add_data(server: Server) -> None:
    @server.resource("notes://all", name="notes")
    async def notes() -> str:
        return "n"

    @server.resource("notes://{which}", name="note")
    async def note(which: str) -> str:
        raise RuntimeError(f"secret {which}")

    @server.prompt
    async def review(code: str) -> str:
        return code

    @server.completion("review", "code")
    async def complete(value: str) -> list[str]:
        return [value]

    @server.method("models/list", capability="models")
    async def models() -> dict[str, Any]:
        return {}


def _current() -> dict[str, Any]:
    context = trace.get_current_span().get_span_context()
    return {
        "trace": trace.format_trace_id(context.trace_id),
        "span": trace.format_span_id(context.span_id),
        "baggage": baggage.get_baggage("user"),
    }


class Observed:
    def __init__(self, *, profile: bool = True, limits: Limits | None = None) -> None:
        self._spans = InMemorySpanExporter()
        self._reader = InMemoryMetricReader()
        self.tracer_provider = TracerProvider()
        self.tracer_provider.add_span_processor(SimpleSpanProcessor(self._spans))
        meters = MeterProvider([self._reader])
        self.server = make_server(limits=limits)
        telemetry = Telemetry(tracer_provider=self.tracer_provider, meter_provider=meters, profile=profile)
        self.server.use(telemetry)

    @property
    def spans(self) -> list[ReadableSpan]:
        return list(self._spans.get_finished_spans())

    async def ask(self, message: Mapping[str, Any], **scope: Any) -> ReadableSpan:
        """Send a message; returns its span."""
        self._spans.clear()
        await self.server.handle(message, scope=Scope(**scope))
        (span,) = self.spans
        return span

    async def request(self, method: str, params: Any = None, **scope: Any) -> ReadableSpan:
        return await self.ask(request(method, params), **scope)

    def points(self, name: str) -> list[HistogramDataPoint]:
        """The metrics so far."""
        data = self._reader.get_metrics_data()
        measured = [
            metric
            for resource in (data.resource_metrics if data else ())
            for scope in resource.scope_metrics
            for metric in scope.metrics
        ]
        return [point for metric in measured if metric.name == name for point in metric.data.data_points]  # type: ignore[misc]
