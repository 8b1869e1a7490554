"""Prometheus's text format (version 0.0.4)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

BUCKETS: Final = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300)
"""In seconds, those of OpenTelemetry's conventions for MCP."""
FAMILIES: Final = {
    "mcp_server_operation_duration_seconds": ("histogram", "Duration of requests, by method and outcome"),
    "assay_http_request_duration_seconds": ("histogram", "Duration of HTTP requests"),
    "assay_http_requests_total": ("counter", "Answered HTTP requests"),
    "assay_http_response_bytes_total": ("counter", "Bytes of HTTP response bodies"),
    "assay_http_connections": ("gauge", "Open connections"),
    "assay_requests_running": ("gauge", "Requests in progress"),
    "assay_workers": ("gauge", "Workers that serve"),
    "assay_worker_restarts_total": ("counter", "Workers that ended unasked"),
    "process_cpu_seconds_total": ("counter", "CPU time of all processes"),
}
ESCAPES: Final = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n"})


def series(name: str, labels: Mapping[str, str]) -> str:
    pairs = ",".join(f'{key}="{value.translate(ESCAPES)}"' for key, value in labels.items() if value)
    return f"{name}{{{pairs}}}" if pairs else name


def as_text(counters: Mapping[str, float], gauges: Mapping[str, float]) -> str:
    return "".join(f"{line}\n" for line in _lines({**counters, **gauges}))


def _lines(numbers: Mapping[str, float]) -> Iterator[str]:
    by_family: dict[str, list[str]] = {}
    for key, number in numbers.items():
        by_family.setdefault(_family_of(key.partition("{")[0]), []).append(f"{key} {number:.15g}")
    for family, (kind, text) in FAMILIES.items():
        if family in by_family:
            yield f"# HELP {family} {text}"
            yield f"# TYPE {family} {kind}"
            yield from by_family[family]


def _family_of(name: str) -> str:
    if name in FAMILIES:
        return name
    return name.removesuffix("_bucket").removesuffix("_sum").removesuffix("_count")
