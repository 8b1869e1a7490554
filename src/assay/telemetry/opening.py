"""Which way telemetry takes: straight, unless the environment asks for what only the SDK of others has."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final
from urllib.parse import unquote

from assay.model.error import MissingExtra

try:
    from .direct import DirectTelemetry
    from .layer import Telemetry
except ImportError:
    raise MissingExtra('to export telemetry takes more packages: pip install "assay-mcp[otel]"') from None
from .outbox import Outbox

ENDPOINT: Final = "OTEL_EXPORTER_OTLP_ENDPOINT"
SERVICE: Final = "OTEL_SERVICE_NAME"
RESOURCE: Final = "OTEL_RESOURCE_ATTRIBUTES"
KNOWN: Final = frozenset(
    {ENDPOINT, SERVICE, RESOURCE, "OTEL_BSP_SCHEDULE_DELAY", "OTEL_METRIC_EXPORT_INTERVAL"}
)
"""Variables that the direct way understands; it exports sooner than the last two could ask for."""


def open_telemetry(
    url: str | None, *, service: str, version: str, environment: Mapping[str, str]
) -> tuple[DirectTelemetry | Telemetry, Callable[[], object]]:
    """A layer whose spans and metrics go to a collector, at the URL or as the environment says; and what
    sends the rest of them in the end."""
    wanted = {name for name in environment if name.startswith("OTEL_")}
    where = url or environment.get(ENDPOINT)
    if where is None or wanted - KNOWN:
        from .export import Export

        export = Export(url, service=service, version=version)
        spans, measures = export.tracer_provider, export.meter_provider
        return Telemetry(tracer_provider=spans, meter_provider=measures), export.close
    outbox = Outbox(where.rstrip("/"), resource_of(service, version, environment))
    return DirectTelemetry(outbox), outbox.close


def resource_of(service: str, version: str, environment: Mapping[str, str]) -> dict[str, str]:
    """What is told of the server itself; the environment's word goes before ours."""
    said = environment.get(RESOURCE, "").split(",")
    pairs = (pair.partition("=") for pair in said)
    given = {key.strip(): unquote(one.strip()) for key, equals, one in pairs if equals}
    own = {"service.name": service, "service.version": version, "telemetry.sdk.name": "assay"}
    named = {"service.name": environment[SERVICE]} if environment.get(SERVICE) else {}
    return {**own, **given, **named}
