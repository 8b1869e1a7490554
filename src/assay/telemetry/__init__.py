"""Spans and metrics of a server, as in OpenTelemetry's conventions for MCP: `server.use(Telemetry())`."""

from assay.model.error import MissingExtra

try:
    import opentelemetry.trace  # noqa: F401
except ImportError:
    raise MissingExtra('telemetry needs opentelemetry-api: pip install "assay-mcp[otel]"') from None

from .middleware import Telemetry

__all__ = ["Telemetry"]
