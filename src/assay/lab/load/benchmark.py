"""The benchmarks of a marketplace profile, as load tests: streams, calls on stdio, sessions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from assay.lab.error import InvalidOptions
from assay.lab.subjects import as_target
from assay.lab.target import Target

from .error_kind import RESET
from .options import LoadOptions
from .relay import Impairment
from .result import LoadResult
from .run import LoadTest

SSE: Final = "BENCH-SSE-01"
STDIO: Final = "BENCH-STDIO-02"
IMPAIRED: Final = "BENCH-SSE-03"
POOL: Final = "BENCH-POOL-04"
BENCHMARKS: Final = (SSE, STDIO, IMPAIRED, POOL)
USERS: Final = (50, 200)
POOL_USERS: Final = 50
POOL_THINK: Final = 0.2
"""Seconds between two sessions of a user. Without a pause, the latency would be that of a full generator."""
CALLS, STARTS, SESSIONS, CAPACITY = "calls", "starts", "sessions", "capacity"


class BenchmarkPlan(Struct, frozen=True):
    """How long is measured."""

    stream_seconds: float
    """For each number of users."""
    call_seconds: float
    start_seconds: float
    """In which processes are started one after another."""
    session_seconds: float
    warm_up: float


PLANS: Final = {
    "quick": BenchmarkPlan(1.5, 1.5, 1.5, 1.5, 0.3),
    "full": BenchmarkPlan(20.0, 10.0, 15.0, 15.0, 2.0),
}


class BenchmarkResult(Struct, frozen=True):
    figures: dict[str, float]
    facts: dict[str, str]
    results: dict[str, LoadResult]
    """By name: what the figures are computed from."""
    problem: str = ""
    """Why there are no figures."""


async def run_benchmark(
    name: str, target: Target | str, options: LoadOptions, plan: BenchmarkPlan
) -> BenchmarkResult:
    """Measure one benchmark of a server. `options` say how it is reached.

    Raises:
        LabError: the server cannot be measured.
    """
    scenario = {POOL: SESSIONS, STDIO: CALLS}.get(name, "streams")
    base = replace(options, scenario=scenario, floor=False, warm_up=plan.warm_up)
    test = LoadTest(as_target(target), base)
    try:
        await test.start()
        results = await _MEASURES[name](test, base, plan)
    except InvalidOptions as missing:
        # The server has nothing to measure: that is a fact about it, not about the options.
        return BenchmarkResult({}, {}, {}, missing.problem)
    finally:
        await test.stop()
    # The capacity is a lower bound then, and says so.
    saturated = [each.saturated for key, each in results.items() if each.saturated and key != CAPACITY]
    if saturated:
        return BenchmarkResult({}, {}, results, saturated[0])
    return BenchmarkResult(figures_of(name, results), _facts(results), results)


async def _streams(test: LoadTest, base: LoadOptions, plan: BenchmarkPlan) -> dict[str, LoadResult]:
    options = replace(base, seconds=plan.stream_seconds)
    return {str(users): await test.measure(replace(options, users=users)) for users in USERS}


async def _impaired(test: LoadTest, base: LoadOptions, plan: BenchmarkPlan) -> dict[str, LoadResult]:
    options = replace(base, seconds=plan.stream_seconds, impairment=Impairment())
    return {str(users): await test.measure(replace(options, users=users)) for users in USERS}


async def _stdio(test: LoadTest, base: LoadOptions, plan: BenchmarkPlan) -> dict[str, LoadResult]:
    tool = test.quickest_tool
    calls = replace(base, seconds=plan.call_seconds, users=1, tool=() if tool is None else (tool,))
    if tool is None:
        calls = replace(calls, scenario="lists")
    starts = replace(base, scenario=SESSIONS, seconds=plan.start_seconds, users=1, warm_up=0.0)
    return {CALLS: await test.measure(calls), STARTS: await test.measure(starts)}


async def _pool(test: LoadTest, base: LoadOptions, plan: BenchmarkPlan) -> dict[str, LoadResult]:
    options = replace(base, seconds=plan.session_seconds, users=POOL_USERS)
    paced = await test.measure(replace(options, think=POOL_THINK))
    return {SESSIONS: paced, CAPACITY: await test.measure(options)}


_MEASURES: Final = {SSE: _streams, IMPAIRED: _impaired, STDIO: _stdio, POOL: _pool}


def figures_of(name: str, results: Mapping[str, LoadResult]) -> dict[str, float]:
    """The figures of a benchmark, computed from the histograms of its results."""
    if name in (SSE, IMPAIRED):
        return _stream_figures(results)
    main = results[CALLS if name == STDIO else SESSIONS]
    histogram = main.latencies()
    p50, p95, p99 = (value / 1e6 for value in histogram.percentiles((50, 95, 99)))
    figures = {"p50_ms": p50, "p95_ms": p95, "p99_ms": p99, "error_rate": main.error_rate}
    if name == POOL:
        capacity = results[CAPACITY]
        return {**figures, "sessions_per_second": capacity.latencies().count / capacity.seconds}
    starts = results[STARTS].latencies()
    figures["calls"] = float(histogram.count)
    if starts.count:
        figures["cold_start_p95_ms"] = starts.percentile(95) / 1e6
    return figures


def _stream_figures(results: Mapping[str, LoadResult]) -> dict[str, float]:
    figures: dict[str, float] = {}
    failed = operations = 0
    for users, result in results.items():
        histogram = result.stream_latencies()
        if histogram.count:
            p50, p95 = (value / 1e6 for value in histogram.percentiles((50, 95)))
            figures |= {f"p50_ms_{users}": p50, f"p95_ms_{users}": p95}
            figures[f"messages_per_second_{users}"] = histogram.count / result.seconds
        # Connections that the relay reset are not the server's errors.
        own = min(int(result.network.get("relay resets", 0)), result.errors.get(RESET, 0))
        failed += sum(result.errors.values()) - own
        operations += result.operations
    return {**figures, "error_rate": failed / operations if operations else 1.0}


def _facts(results: Mapping[str, LoadResult]) -> dict[str, str]:
    facts: dict[str, str] = {}
    for name, result in results.items():
        facts |= {key: str(value) for key, value in result.network.items() if key != "relay resets"}
        facts["revision"] = result.revision
        facts["machine"] = f"{result.machine.cores} cores, load average {result.machine.load_average:g}"
        facts[f"generator {name}"] = f"{result.generator.cpu_share:.0%} of a core"
        facts[f"traffic {name}"] = ", ".join(result.traffic)
        if result.saturated:
            facts[f"{name} at least"] = result.saturated
        if result.messages is not None:
            facts["messages"] = f"latency by {result.messages.method}"
    return facts
