"""Results of load tests, with figures that a test chooses."""

from typing import Any

from assay.lab.load.histogram import Histogram
from assay.lab.load.result import (
    FORMAT,
    Cost,
    LoadPace,
    LoadResult,
    Machine,
    Point,
    ServerUsage,
    UsageSample,
    latency_of,
)


def server(**changed: Any) -> ServerUsage:
    samples = [UsageSample(float(t), 30 * 2**20, 0.4, 20, t * 100) for t in range(5)]
    usual: dict[str, Any] = {
        "processes": 1,
        "rss_max": 30 * 2**20,
        "fds_max": 20,
        "cpu_share": 0.4,
        "cpu_us": 60.0,
        "leak": 12.0,
        "fd_leak": 0.0,
        "samples": samples,
    }
    return ServerUsage(**{**usual, **changed})


def load_result(latencies: tuple[float, ...] = (1.0, 2.0, 3.0, 50.0), **changed: Any) -> LoadResult:
    """`latencies` are in milliseconds."""
    histogram = Histogram()
    for value in latencies:
        histogram.record(int(value * 1e6))
    usual: dict[str, Any] = {
        "format": FORMAT,
        "assay": "1",
        "started": "2026-01-01T00:00:00.000Z",
        "target": "http://localhost/mcp",
        "transport": "http",
        "revision": "r",
        "scenario": "calls",
        "traffic": {"calls add": 1},
        "pace": LoadPace(10),
        "seconds": 4.0,
        "operations": len(latencies),
        "errors": {},
        "error_rate": 0.0,
        "rate": 100.0,
        "latency": latency_of(histogram),
        "timeline": [Point(1.0, 90.0, 0.0, 1.0, 2.0), Point(2.0, 110.0, 0.0, None, None)],
        "generator": Cost(0.1, 0.0, 20.0, None, True),
        "machine": Machine(2, 0.5, "3", "Linux"),
        "histograms": {"calls": histogram.buckets()},
    }
    return LoadResult(**{**usual, **changed})
