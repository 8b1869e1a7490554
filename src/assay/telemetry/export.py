"""Where spans and metrics go: by OTLP over HTTP to a collector, with OpenTelemetry's own SDK.

Neither a collector that is away nor one that is slow holds up a server: spans wait in a queue with a bound,
threads of the SDK send them, and the end of the process waits for them no longer than `FAREWELL`.
"""

from __future__ import annotations

import logging
import os
import threading
from time import monotonic
from typing import Final

from assay.model.error import MissingExtra

from .outbox import FAREWELL, SELDOM

try:
    from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.metrics import MeterProvider
    from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
    from opentelemetry.sdk.resources import OTELResourceDetector, Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor
except ImportError:
    raise MissingExtra('to export telemetry takes more packages: pip install "assay-mcp[otel]"') from None

SOON: Final = {"OTEL_BSP_SCHEDULE_DELAY": 200.0, "OTEL_METRIC_EXPORT_INTERVAL": 5000.0}
"""Milliseconds between two exports to a collector that was named, unless the environment says otherwise."""
TALKATIVE: Final = (
    "opentelemetry.exporter.otlp.proto.http.trace_exporter",
    "opentelemetry.exporter.otlp.proto.http.metric_exporter",
    "opentelemetry.sdk._shared_internal",
)


class Export:
    """Providers whose spans and metrics go to a collector: the one at a URL, else the environment's.

    What the environment says goes before what is given here, as for any user of OpenTelemetry:
    `OTEL_SERVICE_NAME`, `OTEL_RESOURCE_ATTRIBUTES`, and with no URL all of `OTEL_EXPORTER_OTLP_...`.
    """

    def __init__(self, url: str | None, *, service: str, version: str) -> None:
        own = Resource({"service.name": service, "service.version": version})
        resource = Resource.create(dict(own.merge(OTELResourceDetector().detect()).attributes))
        base = None if url is None else url.rstrip("/")
        spans = OTLPSpanExporter(None if base is None else f"{base}/v1/traces")
        measures = OTLPMetricExporter(None if base is None else f"{base}/v1/metrics")
        self.tracer_provider = TracerProvider(resource=resource, shutdown_on_exit=False)
        self.tracer_provider.add_span_processor(
            BatchSpanProcessor(spans, schedule_delay_millis=_pace("OTEL_BSP_SCHEDULE_DELAY", url))
        )
        reader = PeriodicExportingMetricReader(
            measures, export_interval_millis=_pace("OTEL_METRIC_EXPORT_INTERVAL", url)
        )
        self.meter_provider = MeterProvider([reader], resource=resource, shutdown_on_exit=False)
        self._over, self._sent = threading.Event(), threading.Event()
        # Begun now: a process that ends begins no threads. A daemon: nobody waits for it long.
        threading.Thread(target=self._send_the_rest, name="assay-telemetry", daemon=True).start()
        for name in TALKATIVE:
            logging.getLogger(name).addFilter(Seldom())

    def _send_the_rest(self) -> None:
        self._over.wait()
        try:
            self.tracer_provider.shutdown()
            self.meter_provider.shutdown()
        finally:
            self._sent.set()

    def close(self, patience: float = FAREWELL) -> bool:
        """Send what is left, as far as that can be done soon; returns whether it could."""
        self._over.set()
        return self._sent.wait(patience)


def _pace(variable: str, url: str | None) -> float | None:
    """How often to export; none where the SDK's default or the environment's word holds."""
    return None if url is None or variable in os.environ else SOON[variable]


class Seldom(logging.Filter):
    """Lets a logger speak once in a while."""

    def __init__(self) -> None:
        super().__init__()
        self._silent_until = 0.0

    def filter(self, record: logging.LogRecord) -> bool:
        now = monotonic()
        if now < self._silent_until:
            return False
        self._silent_until = now + SELDOM
        return True
