"""Run both suites against one server, through their command lines."""

import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from assay.lab.harness.run.archive import RUN_FILE, read_run
from assay.lab.harness.run.run import Run
from interop.agreement.record import Pair, Seconds, SubjectResult, official_verdicts, our_verdicts, pairs
from interop.agreement.table import PEERS, ROOT, Fixture
from interop.child_process import child, http_server, lines_until_end
from interop.official import SUITE_TIMEOUT, Aborted, Exit, Tally, read_tallies, suite_command, tail

ASSAY = str(Path(sys.executable).with_name("assay"))
EVERYTHING: Sequence[str] = ("--suite", "all")
"""Each scenario once, at the official suite's default revision; extensions run only this way."""


OUR_FAULT = 70
"""Exit code of `assay` for an internal error."""


# pip compiles what it installs; a working copy may not be compiled, which would distort the times.
COMPILED = {"PYTHONDONTWRITEBYTECODE": ""}


def compile_ourselves() -> None:
    subprocess.run([sys.executable, "-m", "compileall", "-q", str(ROOT / "src")], check=True)


async def run_command(command: Sequence[str], log: Path) -> float:
    """Run a suite and return the seconds it took. Verdicts are read from its files, not the exit code."""
    began = time.monotonic()
    async with child(command, log, COMPILED) as process:
        _, problem = await lines_until_end(process, SUITE_TIMEOUT)
    if process.returncode is None or process.returncode < 0 or process.returncode == OUR_FAULT:
        raise Aborted(Exit.COULD_NOT_RUN, f"{Path(command[0]).name}: {problem}\n{tail(log)}")
    return time.monotonic() - began


async def by_official(
    node: Path, url: str, options: Sequence[str], directory: Path
) -> tuple[dict[str, Tally], float]:
    directory.mkdir(parents=True)
    log = directory.with_suffix(".log")
    seconds = await run_command(suite_command(node, url, options, directory), log)
    tallies = read_tallies(directory)
    if not tallies:
        raise Aborted(Exit.COULD_NOT_RUN, f"the official suite left no checks:\n{tail(log)}")
    return tallies, seconds


async def by_us(url: str, revisions: Sequence[str], directory: Path) -> tuple[Run, float]:
    chosen = [word for revision in revisions for word in ("--spec-version", revision)]
    command = [ASSAY, "server", "--url", url, "--suite", "everything", *chosen, "--output", str(directory)]
    log = directory.with_suffix(".log")
    seconds = await run_command(command, log)
    return stored_run(directory, log), seconds


def stored_run(directory: Path, log: Path) -> Run:
    """
    Raises:
        Aborted: no run was stored.
    """
    stored = list(directory.glob(f"*/{RUN_FILE}"))
    if len(stored) != 1:
        raise Aborted(Exit.COULD_NOT_RUN, f"assay stored no run:\n{tail(log)}")
    return read_run(stored[0])


def installed(fixture: Fixture, command: list[str], how: str) -> list[str]:
    if not Path(command[0]).exists():
        missing = f"{fixture.title} is not installed: {command[0]} is missing; run `{how}`"
        raise Aborted(Exit.COULD_NOT_RUN, missing)
    return command


async def compare_server(server: Fixture, node: Path, environments: Path, results: Path) -> SubjectResult:
    """Start the server and run both suites against it, one after the other."""
    places = {"assay": ASSAY, "node": str(node), "peers": str(PEERS), "environments": str(environments)}
    command = installed(server, server.line(places), "make agreement")
    home = results / server.name
    home.mkdir(parents=True)
    async with http_server(command, home / "server.log", {"PYTHONPATH": str(PEERS)}) as url:
        everything, run, seconds = await timed(server, node, url, home)
        compared = await all_pairs(server, node, url, home, everything, run)
    return SubjectResult(server.name, server.version(), seconds, compared)


async def timed(server: Fixture, node: Path, url: str, home: Path) -> tuple[dict[str, Tally], Run, Seconds]:
    return await in_turns(
        server.rounds,
        lambda number: by_official(node, url, EVERYTHING, home / f"official-all-{number}"),
        lambda number: by_us(url, server.revisions, home / f"ours-{number}"),
    )


async def in_turns(
    rounds: int,
    by_official: Callable[[int], Awaitable[tuple[dict[str, Tally], float]]],
    by_us: Callable[[int], Awaitable[tuple[Run, float]]],
) -> tuple[dict[str, Tally], Run, Seconds]:
    """Run both suites alternately; return the verdicts of the last round and the best time of each."""
    official, ours = [], []
    for number in range(rounds):
        tallies, seconds = await by_official(number)
        official.append(seconds)
        run, seconds = await by_us(number)
        ours.append(seconds)
    best = Seconds(
        official=round(min(official), 2),
        official_scenarios=len(tallies),
        ours=round(min(ours), 2),
        our_scenarios=len({cell.scenario for cell in run.cells}),
        our_cells=len(run.cells),
    )
    return tallies, run, best


async def all_pairs(
    server: Fixture, node: Path, url: str, home: Path, everything: dict[str, Tally], run: Run
) -> list[Pair]:
    compared: list[Pair] = []
    for revision in server.revisions:
        options = (*EVERYTHING, "--spec-version", revision)
        tallies, _ = await by_official(node, url, options, home / f"official-{revision}")
        compared += pairs(revision, official_verdicts(tallies), our_verdicts(run, revision))
    # Extensions belong to no revision; servers offer them on the newest.
    compared_names = {pair.scenario for pair in compared}
    extensions = {name: tally for name, tally in everything.items() if name not in compared_names}
    if len(server.revisions) > 1:
        newest = server.revisions[-1]
        compared += pairs(newest, official_verdicts(extensions), our_verdicts(run, newest))
    return compared


def placed(path: Path) -> str:
    return str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else str(path)
