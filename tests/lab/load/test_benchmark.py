"""Benchmarks of a profile: their figures come from stored results, and are the same when computed again."""

import pytest

from assay.certify.providers.benchmark import PROVIDER
from assay.lab.load.benchmark import (
    BENCHMARKS,
    IMPAIRED,
    POOL,
    SSE,
    STDIO,
    BenchmarkPlan,
    figures_of,
    run_benchmark,
)
from assay.lab.load.options import LoadOptions
from assay.lab.load.result import dump_result
from tests.lab.load.results import load_result

PLAIN = "tests/lab/load/plain_server.py"
SHORT = BenchmarkPlan(0.3, 0.3, 0.3, 0.3, 0.0)


def streams(**changed: object) -> dict[str, object]:
    buckets = {"1000000": 95, "300000000": 5}
    return {"message_histogram": buckets, "operations": 100, **changed}


def test_streams_are_judged_by_their_messages_at_each_number_of_users() -> None:
    results = {"50": load_result(**streams()), "200": load_result(**streams(errors={"timeout": 1}))}
    figures = figures_of(SSE, results)
    assert figures["p95_ms_50"] == pytest.approx(1.0, rel=0.01)
    assert figures["error_rate"] == 1 / 200
    assert figures["messages_per_second_200"] == 25


def test_resets_of_the_relay_are_not_errors_of_the_server() -> None:
    result = load_result(**streams(errors={"reset": 5, "http 500": 1}, network={"relay resets": 4}))
    assert figures_of(IMPAIRED, {"50": result})["error_rate"] == 2 / 100


def test_streams_without_messages_have_no_latency() -> None:
    figures = figures_of(SSE, {"50": load_result()})
    assert "p95_ms_50" not in figures


def test_calls_and_starts_have_figures_of_their_own() -> None:
    figures = figures_of(STDIO, {"calls": load_result((1.0, 2.0, 3.0)), "starts": load_result((300.0,))})
    assert figures["calls"] == 3
    assert figures["cold_start_p95_ms"] == pytest.approx(300, rel=0.01)
    pool = figures_of(POOL, {"sessions": load_result((5.0,)), "capacity": load_result((9.0,) * 8)})
    assert pool["sessions_per_second"] == 2
    assert pool["p95_ms"] == pytest.approx(5, rel=0.01)


@pytest.mark.parametrize("name", BENCHMARKS)
def test_figures_are_the_same_from_the_stored_files(name: str) -> None:
    names = {
        SSE: ("50", "200"),
        IMPAIRED: ("50", "200"),
        STDIO: ("calls", "starts"),
        POOL: ("sessions", "capacity"),
    }
    results = {each: load_result(**streams()) for each in names[name]}
    files = {f"{each}.json": dump_result(result) for each, result in results.items()}
    assert PROVIDER.figures(name, files) == figures_of(name, results)


def test_changed_or_missing_files_have_no_figures() -> None:
    with pytest.raises(ValueError, match="not the result of a load test"):
        PROVIDER.figures(STDIO, {"calls.json": b"{}"})
    with pytest.raises(KeyError):
        PROVIDER.figures(STDIO, {})


async def test_calls_on_stdio_are_measured_with_the_starts_of_the_process() -> None:
    result = await run_benchmark(STDIO, PLAIN, LoadOptions(), SHORT)
    figures = figures_of(STDIO, result.results)
    assert figures["calls"] > 1
    assert figures["cold_start_p95_ms"] > 0
    # On a busy machine the generator may be the limit, and then nothing is reported.
    assert result.problem or result.figures == figures


async def test_server_without_streams_is_not_measured() -> None:
    result = await run_benchmark(SSE, PLAIN, LoadOptions(transport="http"), SHORT)
    assert "reports progress" in result.problem
    assert not result.figures
