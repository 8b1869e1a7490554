"""The result of a load test: all of it is in one JSON document, from which pages and comparisons are made."""

from __future__ import annotations

from typing import Any, Final

import msgspec
from msgspec import Struct

from .histogram import Histogram
from .slo import ObjectiveResult

FORMAT: Final = "assay-load/1"
LARGEST: Final = 16 * 1024 * 1024
"""Bytes of a stored result."""
SHARES: Final = {"p50": 50.0, "p90": 90.0, "p95": 95.0, "p99": 99.0, "p999": 99.9}
MILLISECOND: Final = 1e6


class BadResult(ValueError):
    """A file is not the result of a load test."""


class Latency(Struct, frozen=True):
    """In milliseconds."""

    count: int
    mean: float
    min: float
    p50: float
    p90: float
    p95: float
    p99: float
    p999: float
    max: float


class Point(Struct, frozen=True):
    """A part of the measured time; `t` is its end in seconds, `rate` counts answers in a second."""

    t: float
    rate: float
    errors: float
    p50: float | None
    p99: float | None


class UsageSample(Struct, frozen=True):
    t: float
    rss: int
    cpu: float
    """The share of one core since the last sample."""
    fds: int | None
    operations: int
    """Answered so far."""


class ServerUsage(Struct, frozen=True):
    """What a server on this machine used, with its child processes."""

    processes: int
    rss_max: int
    fds_max: int | None
    cpu_share: float
    """Of one core."""
    cpu_us: float | None
    """Microseconds of CPU time for one operation."""
    leak: float | None
    """Bytes of memory that are added with each operation; None if there are too few samples."""
    fd_leak: float | None
    samples: list[UsageSample]


class Cost(Struct, frozen=True):
    """What the generator itself used."""

    cpu_share: float
    """Of one core: it has one thread."""
    wait_share: float | None
    """The share of the time in which it was ready to run, but other processes were on the cores."""
    cpu_us: float | None
    """Microseconds of CPU time for one operation."""
    lag_p99: float | None
    """Milliseconds after the intended time at which an operation was handled, at a fixed rate."""
    precise: bool
    """Whether a timer with microseconds was available."""


class Floor(Struct, frozen=True):
    """The same generator with a server that does no work: no result can be better."""

    rate: float
    p50: float
    p99: float
    cpu_us: float


class StreamMessages(Struct, frozen=True):
    method: str
    """`time stamp`: from the server's clock in the message to its arrival. `first message`: from the request
    to the first message, an upper bound that contains the time of the tool."""
    latency: Latency
    rate: float
    gaps: Latency | None


class LoadPace(Struct, frozen=True):
    users: int
    rate: float | None = None
    think: float = 0.0
    poisson: bool = False


class Machine(Struct, frozen=True):
    cores: int
    load_average: float
    """Of the last minute, when the test ended."""
    python: str
    platform: str


class LoadResult(Struct, frozen=True, kw_only=True):
    format: str
    assay: str
    started: str
    target: str
    transport: str
    revision: str
    scenario: str
    traffic: dict[str, int]
    """Operations, and how often each occurs in a cycle."""
    pace: LoadPace
    seconds: float
    """Measured time."""
    operations: int
    """Whose intended time is in the measured time, with those that failed."""
    errors: dict[str, int]
    """By kind."""
    error_rate: float
    rate: float | None
    """Answers without errors in a second. None if the generator was the limit."""
    latency: Latency | None
    """From the intended time to the answer, without errors. None if the generator was the limit."""
    kinds: dict[str, Latency] = {}
    messages: StreamMessages | None = None
    timeline: list[Point] = []
    server: ServerUsage | None = None
    generator: Cost
    floor: Floor | None = None
    saturated: str = ""
    """Why the generator, not the server, was the limit."""
    objectives: list[ObjectiveResult] = []
    remarks: list[str] = []
    interrupted: bool = False
    machine: Machine
    network: dict[str, Any] = {}
    """How the network was impaired, if it was."""
    histograms: dict[str, dict[str, int]] = {}
    """Latencies by kind of operation: nanoseconds and how often."""
    message_histogram: dict[str, int] = {}

    def latencies(self) -> Histogram:
        total = Histogram()
        for buckets in self.histograms.values():
            total.merge(Histogram.of(buckets))
        return total

    def stream_latencies(self) -> Histogram:
        return Histogram.of(self.message_histogram)

    @property
    def conclusion(self) -> str:
        if self.interrupted:
            return "interrupted"
        if self.saturated or not self.operations or any(each.value is None for each in self.objectives):
            return "incomplete"
        return "met" if all(each.met for each in self.objectives) else "not met"


def latency_of(histogram: Histogram) -> Latency | None:
    if not histogram.count:
        return None
    values = [value / MILLISECOND for value in histogram.percentiles(SHARES.values())]
    return Latency(
        count=histogram.count,
        mean=histogram.mean / MILLISECOND,
        min=histogram.lowest / MILLISECOND,
        max=histogram.highest / MILLISECOND,
        **dict(zip(SHARES, values, strict=True)),
    )


def dump_result(result: LoadResult) -> bytes:
    return msgspec.json.format(msgspec.json.encode(result), indent=1) + b"\n"


def read_result(data: bytes) -> LoadResult:
    """
    Raises:
        BadResult: it is not the result of a load test, or of another version.
    """
    if len(data) > LARGEST:
        raise BadResult(f"larger than {LARGEST} bytes")
    try:
        result = msgspec.json.decode(data, type=LoadResult)
    except (msgspec.DecodeError, RecursionError) as error:
        raise BadResult(f"not the result of a load test: {error}") from error
    if result.format != FORMAT:
        raise BadResult(f"the format is {result.format}, not {FORMAT}")
    try:
        result.latencies()
        result.stream_latencies()
    except ValueError as error:
        raise BadResult(str(error)) from error
    return result
