"""`assay load`: what is printed and written, and the exit code."""

import asyncio
from argparse import Namespace
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from assay.cli.exit_code import CommandFailed, ExitCode
from assay.cli.output.load import progress_line, show_load, summary
from assay.lab.live import Live
from assay.lab.load.measurement import LoadProgress
from assay.lab.load.result import LoadResult, dump_result, read_result
from assay.lab.load.slo import ObjectiveResult
from tests.lab.load.results import load_result, server

PROGRESS = LoadProgress(1.0, 10.0, 100, 99.0, 2, 1.5, 30.0, 4, 40 * 2**20)


def shown(result: LoadResult, **options: Any) -> ExitCode:
    async def work(report: Callable[[LoadProgress], None]) -> LoadResult:
        report(PROGRESS)
        return result

    usual = {"against": None, "tolerance": 10.0, "output": None, "html": None, "json": False}
    return asyncio.run(show_load(Live(work), Namespace(**{**usual, **options})))


def test_progress_is_one_line_each_second() -> None:
    assert progress_line(PROGRESS) == "1/10 s: 99/s, p50 1.5 ms, p99 30.0 ms, 2 errors, server 40.0 MB"


def test_summary_has_latencies_errors_and_the_cost_of_both_sides() -> None:
    lines = "\n".join(summary(load_result(server=server(), errors={"http 500": 3}, error_rate=0.5)))
    for part in ("p999", "50.000% (3 http 500)", "30.0 MB, 20 descriptors", "+11.7 KB", "generator   10%"):
        assert part in lines


def test_saturated_result_shows_the_reason_instead_of_a_rate(capsys: pytest.CaptureFixture[str]) -> None:
    result = load_result(saturated="the generator was busy", rate=None, latency=None)
    assert shown(result) is ExitCode.INCOMPLETE
    output = capsys.readouterr().out
    assert "incomplete: the generator was busy" in output
    assert "rate  " not in output and "p50" not in output


@pytest.mark.parametrize(
    ("changed", "code"),
    [
        ({}, ExitCode.OK),
        ({"objectives": [ObjectiveResult("p95<1ms", 50.0, False)]}, ExitCode.DOES_NOT_CONFORM),
        ({"objectives": [ObjectiveResult("rss<1MB", None, False)]}, ExitCode.INCOMPLETE),
        ({"interrupted": True}, ExitCode.INTERRUPTED),
    ],
)
def test_exit_code_is_that_of_the_conclusion(changed: dict[str, Any], code: ExitCode) -> None:
    assert shown(load_result(**changed)) is code


def test_result_is_written_and_compared_with_later(tmp_path: Path) -> None:
    stored, page = tmp_path / "new" / "before.json", tmp_path / "page.html"
    assert shown(load_result(), output=stored, html=page) is ExitCode.OK
    assert read_result(stored.read_bytes()) == load_result()
    assert "<svg" in page.read_text()
    assert shown(load_result(), against=stored) is ExitCode.OK
    assert shown(replace(load_result(), rate=50.0), against=stored) is ExitCode.DOES_NOT_CONFORM
    assert shown(replace(load_result(), rate=50.0), against=stored, tolerance=60.0) is ExitCode.OK


def test_json_is_the_only_thing_on_standard_output(capsys: pytest.CaptureFixture[str]) -> None:
    shown(load_result(), json=True)
    assert read_result(capsys.readouterr().out.encode()) == load_result()


@pytest.mark.parametrize("data", [b"{}", dump_result(load_result(format="other"))])
def test_file_that_is_no_result_is_refused_before_the_test(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "x.json"
    path.write_bytes(data)
    with pytest.raises(CommandFailed) as refusal:
        shown(load_result(), against=path)
    assert refusal.value.code is ExitCode.USAGE
