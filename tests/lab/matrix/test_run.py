"""Whole matrices of small programs: real processes, pipes and sockets."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from assay.lab.error import InvalidOptions
from assay.lab.harness.trace.file import read_trace
from assay.lab.matrix.options import MatrixOptions
from assay.lab.matrix.pair import Blame, Pair, Status
from assay.lab.matrix.run import MatrixResult, PairFinished, PairsPlanned, follow_matrix, run_matrix
from tests.lab.matrix.tiny import matrix

REVISION = "2025-11-25"


def run(directory: Path, *, force: bool = False, **options: tuple[str, ...]) -> MatrixResult:
    return asyncio.run(run_matrix(matrix(**options), MatrixOptions(output=directory, jobs=4, force=force)))


def statuses(result: MatrixResult) -> dict[tuple[str, str], tuple[Status, Blame]]:
    return {(pair.client, pair.server): (each.status, each.blame) for pair, each in result.results.items()}


def test_sound_programs_work_on_both_transports(tmp_path: Path) -> None:
    result = run(tmp_path, clients=("plain", "silent"), transports=("stdio", "http"))
    for each in result.results.values():
        assert (each.status, each.reason) == (Status.OK, ""), each
        assert [step.name for step in each.steps] == ["connect", "tools", "call"]
        trace = read_trace(tmp_path / each.trace)
        assert [exchange.method for exchange in trace.all_exchanges] == [
            "initialize",
            "tools/list",
            "tools/call",
        ]
        assert read_trace(tmp_path / each.client_trace).header.role == "client"


def test_each_fault_is_that_of_its_party(tmp_path: Path) -> None:
    clients = ("plain", "liar", "picky", "unsupported", "crash")
    assert statuses(run(tmp_path, clients=clients)) == {
        ("plain", "sound"): (Status.OK, Blame.NONE),
        ("liar", "sound"): (Status.FAULTY, Blame.CLIENT),
        ("picky", "sound"): (Status.FAULTY, Blame.CLIENT),
        ("unsupported", "sound"): (Status.UNSUPPORTED, Blame.CLIENT),
        ("crash", "sound"): (Status.NOT_RUN, Blame.CLIENT),
    }
    faults = ("error", "shape", "old", "exit")
    assert statuses(run(tmp_path, clients=("plain",), servers=faults)) == {
        ("plain", "error"): (Status.FAULTY, Blame.SERVER),
        ("plain", "shape"): (Status.FAULTY, Blame.SERVER),
        ("plain", "old"): (Status.UNSUPPORTED, Blame.SERVER),
        ("plain", "exit"): (Status.FAULTY, Blame.SERVER),
    }
    assert statuses(run(tmp_path, clients=("picky",), servers=("error", "shape"))) == {
        ("picky", "error"): (Status.FAULTY, Blame.BOTH),
        ("picky", "shape"): (Status.FAULTY, Blame.SERVER),
    }


def test_server_that_exits_at_once_could_not_run_on_http(tmp_path: Path) -> None:
    result = run(tmp_path, servers=("exit",), transports=("http",))
    (each,) = result.results.values()
    assert each.status is Status.NOT_RUN
    assert "this server does not want to start" in each.reason


def test_client_that_hangs_is_stopped(tmp_path: Path) -> None:
    small = matrix(clients=("hang",), timeout=1.5)
    result = asyncio.run(run_matrix(small, MatrixOptions(output=tmp_path)))
    (each,) = result.results.values()
    assert each.status is Status.FAULTY  # whose fault it looks like depends on how far it came
    assert each.seconds < 20


def test_only_what_changed_is_run_again(tmp_path: Path) -> None:
    assert run(tmp_path, clients=("plain",)).ran == 1
    again = run(tmp_path, clients=("plain", "silent"))
    assert (again.ran, again.reused) == (1, 1)
    assert run(tmp_path, clients=("plain", "silent")).ran == 0
    assert run(tmp_path, clients=("plain", "silent"), force=True).ran == 2
    for trace in tmp_path.glob("pairs/plain_*.server.ndjson"):
        trace.unlink()
    assert run(tmp_path, clients=("plain", "silent")).ran == 1


def test_what_could_not_run_is_tried_again(tmp_path: Path) -> None:
    assert run(tmp_path, clients=("crash",)).ran == 1
    assert run(tmp_path, clients=("crash",)).ran == 1


def test_interrupted_run_keeps_what_was_done(tmp_path: Path) -> None:
    small = matrix(clients=("plain", "hang"), timeout=60.0)

    async def interrupt() -> MatrixResult:
        live = follow_matrix(small, MatrixOptions(output=tmp_path, jobs=2))
        async with live:
            async for event in live:
                if isinstance(event, PairFinished):
                    live.interrupt()
        return live.result

    result = asyncio.run(interrupt())
    assert result.interrupted
    assert [pair.client for pair in result.results] == ["plain"]
    assert (tmp_path / "index.html").is_file()


def test_selection_leaves_the_other_results_on_the_page(tmp_path: Path) -> None:
    small = matrix(clients=("plain", "silent"))

    async def select(client: str) -> list[object]:
        live = follow_matrix(small, MatrixOptions(output=tmp_path, client=(client,)))
        async with live:
            events: list[object] = [event async for event in live]
        assert set(live.result.results) >= {Pair(client, "sound", "stdio", REVISION)}
        return [event for event in events if isinstance(event, PairsPlanned)] + [live.result]

    assert asyncio.run(select("plain"))[0] == PairsPlanned(1, 0)
    planned, result = asyncio.run(select("silent"))
    assert planned == PairsPlanned(1, 0)
    assert isinstance(result, MatrixResult)
    assert len(result.results) == 2


def test_selecting_nothing_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidOptions, match="no pair"):
        follow_matrix(matrix(), MatrixOptions(output=tmp_path, client=("nobody",)))
