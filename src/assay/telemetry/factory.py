"""Choose the exporter: direct, unless the environment sets options that only the OpenTelemetry SDK has."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final
from urllib.parse import unquote

from assay.model.error import MissingExtra

try:
    from .direct import DirectTelemetry
    from .middleware import Telemetry
except ImportError:
    raise MissingExtra('exporting telemetry needs more packages: pip install "assay-mcp[otel]"') from None
from .outbox import Outbox

ENDPOINT: Final = "OTEL_EXPORTER_OTLP_ENDPOINT"
SERVICE: Final = "OTEL_SERVICE_NAME"
RESOURCE: Final = "OTEL_RESOURCE_ATTRIBUTES"
SUPPORTED: Final = frozenset(
    {ENDPOINT, SERVICE, RESOURCE, "OTEL_BSP_SCHEDULE_DELAY", "OTEL_METRIC_EXPORT_INTERVAL"}
)
"""Variables that the direct exporter supports; it exports more often than the last two could ask for."""


def open_telemetry(
    url: str | None, *, service: str, version: str, environment: Mapping[str, str]
) -> tuple[DirectTelemetry | Telemetry, Callable[[], object]]:
    """Middleware that exports to the collector at the URL or in the environment, and a function that sends
    the rest at exit."""
    variables = {name for name in environment if name.startswith("OTEL_")}
    endpoint = url or environment.get(ENDPOINT)
    if endpoint is None or variables - SUPPORTED:
        from .export import Export

        export = Export(url, service=service, version=version)
        spans, metrics = export.tracer_provider, export.meter_provider
        return Telemetry(tracer_provider=spans, meter_provider=metrics), export.close
    outbox = Outbox(endpoint.rstrip("/"), resource_of(service, version, environment))
    return DirectTelemetry(outbox), outbox.close


def resource_of(service: str, version: str, environment: Mapping[str, str]) -> dict[str, str]:
    """The resource attributes of the server; the environment takes precedence."""
    pairs = (pair.partition("=") for pair in environment.get(RESOURCE, "").split(","))
    configured = {key.strip(): unquote(value.strip()) for key, equals, value in pairs if equals}
    own = {"service.name": service, "service.version": version, "telemetry.sdk.name": "assay"}
    named = {"service.name": environment[SERVICE]} if environment.get(SERVICE) else {}
    return {**own, **configured, **named}
