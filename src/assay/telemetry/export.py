"""Export of spans and metrics over OTLP/HTTP, with the OpenTelemetry SDK.

An unreachable or slow collector does not delay the server: spans wait in a bounded queue, threads of the SDK
send them, and the process waits for them at exit no longer than `CLOSE_TIMEOUT`.
"""

from __future__ import annotations

import logging
import os
import threading
from time import monotonic
from typing import Final

from assay.model.error import MissingExtra

from .outbox import CLOSE_TIMEOUT, WARNING_INTERVAL

try:
    from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.metrics import MeterProvider
    from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
    from opentelemetry.sdk.resources import OTELResourceDetector, Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor
except ImportError:
    raise MissingExtra('exporting telemetry needs more packages: pip install "assay-mcp[otel]"') from None

INTERVALS: Final = {"OTEL_BSP_SCHEDULE_DELAY": 200.0, "OTEL_METRIC_EXPORT_INTERVAL": 5000.0}
"""Milliseconds between exports to a given URL, unless the environment sets them."""
NOISY_LOGGERS: Final = (
    "opentelemetry.exporter.otlp.proto.http.trace_exporter",
    "opentelemetry.exporter.otlp.proto.http.metric_exporter",
    "opentelemetry.sdk._shared_internal",
)


class Export:
    """Providers that export to a collector: the one at the URL, else the environment's.

    The environment takes precedence, as usual with OpenTelemetry: `OTEL_SERVICE_NAME`,
    `OTEL_RESOURCE_ATTRIBUTES`, and without a URL all of `OTEL_EXPORTER_OTLP_...`.
    """

    def __init__(self, url: str | None, *, service: str, version: str) -> None:
        own = Resource({"service.name": service, "service.version": version})
        resource = Resource.create(dict(own.merge(OTELResourceDetector().detect()).attributes))
        base = None if url is None else url.rstrip("/")
        spans = OTLPSpanExporter(None if base is None else f"{base}/v1/traces")
        metrics = OTLPMetricExporter(None if base is None else f"{base}/v1/metrics")
        self.tracer_provider = TracerProvider(resource=resource, shutdown_on_exit=False)
        self.tracer_provider.add_span_processor(
            BatchSpanProcessor(spans, schedule_delay_millis=_interval("OTEL_BSP_SCHEDULE_DELAY", url))
        )
        reader = PeriodicExportingMetricReader(
            metrics, export_interval_millis=_interval("OTEL_METRIC_EXPORT_INTERVAL", url)
        )
        self.meter_provider = MeterProvider([reader], resource=resource, shutdown_on_exit=False)
        self._closing, self._sent = threading.Event(), threading.Event()
        # Started now, because a process cannot start threads at exit; a daemon, so that exit does not wait
        # for it.
        threading.Thread(target=self._send_the_rest, name="assay-telemetry", daemon=True).start()
        for name in NOISY_LOGGERS:
            logging.getLogger(name).addFilter(RateLimitFilter())

    def _send_the_rest(self) -> None:
        self._closing.wait()
        try:
            self.tracer_provider.shutdown()
            self.meter_provider.shutdown()
        finally:
            self._sent.set()

    def close(self, timeout: float = CLOSE_TIMEOUT) -> bool:
        """Send what is queued within the timeout; returns whether that succeeded."""
        self._closing.set()
        return self._sent.wait(timeout)


def _interval(variable: str, url: str | None) -> float | None:
    """The export interval; `None` for the SDK's default or the environment's value."""
    return None if url is None or variable in os.environ else INTERVALS[variable]


class RateLimitFilter(logging.Filter):
    """Passes at most one record per interval."""

    def __init__(self) -> None:
        super().__init__()
        self._silent_until = 0.0

    def filter(self, record: logging.LogRecord) -> bool:
        now = monotonic()
        if now < self._silent_until:
            return False
        self._silent_until = now + WARNING_INTERVAL
        return True
