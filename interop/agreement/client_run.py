"""Run both suites with one client, through their command lines."""

import os
import re
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path

from assay.lab.harness.run.run import Run
from interop.agreement.record import Pair, Seconds, SubjectResult, official_verdicts, our_verdicts, pairs
from interop.agreement.server_run import ASSAY, EVERYTHING, in_turns, installed, run_command, stored_run
from interop.agreement.table import PEERS, Fixture
from interop.official import PACKAGE, Aborted, Exit, Tally, tail, tally_of

TIMEOUT = 120
"""Seconds for one scenario; long, because all scenarios start at once."""
JOBS = "48"
STAMP = re.compile(r"-\d{4}-\d\d-\d\dT[\d-]+Z$")


def official_tallies(directory: Path) -> dict[str, Tally]:
    """The results of a run: one directory per scenario, nested if its name contains a slash."""
    tallies: dict[str, Tally] = {}
    for path in sorted(directory.rglob("checks.json")):
        name = STAMP.sub("", str(path.parent.relative_to(directory)))
        tallies[name] = tally_of(path)
    return tallies


async def by_official(
    node: Path, command: str, options: Sequence[str], directory: Path
) -> tuple[dict[str, Tally], float]:
    directory.mkdir(parents=True)
    log = directory.with_suffix(".log")
    begin = [str(node), str(PACKAGE / "dist" / "index.js"), "client", "--command", command]
    line = [*begin, *options, "--timeout", str(TIMEOUT * 1000), "--output-dir", str(directory)]
    seconds = await run_command(line, log)
    tallies = official_tallies(directory)
    if not tallies:
        raise Aborted(Exit.COULD_NOT_RUN, f"the official suite left no checks:\n{tail(log)}")
    return tallies, seconds


async def by_us(command: str, options: Sequence[str], directory: Path) -> tuple[Run, float]:
    begin = [ASSAY, "client", "--command", command, "--suite", "official", "--jobs", JOBS]
    line = [*begin, *options, "--timeout", str(TIMEOUT), "--output", str(directory)]
    log = directory.with_suffix(".log")
    seconds = await run_command(line, log)
    return stored_run(directory, log), seconds


async def compare_client(client: Fixture, node: Path, environments: Path, results: Path) -> SubjectResult:
    """Run both suites at each revision, then alternately on all scenarios to measure the time."""
    places = {"node": str(node), "peers": str(PEERS), "environments": str(environments)}
    words = installed(client, client.line(places), "make client-agreement")
    command = shlex.join(words)
    home = results / client.name
    home.mkdir(parents=True)
    os.environ["PYTHONPATH"] = str(PEERS)
    compared: list[Pair] = []
    for revision in client.revisions:
        options = ("--spec-version", revision)
        tallies, _ = await by_official(node, command, (*EVERYTHING, *options), home / f"official-{revision}")
        run, _ = await by_us(command, options, home / f"ours-{revision}")
        compared += pairs(revision, official_verdicts(tallies), our_verdicts(run, revision))
    everything, run, seconds = await timed(client, node, command, home)
    compared += elsewhere(compared, everything, run)
    return SubjectResult(client.name, client.version(), seconds, compared)


def elsewhere(compared: Sequence[Pair], everything: dict[str, Tally], run: Run) -> Iterator[Pair]:
    """Scenarios of extensions, which the official suite runs only without a revision."""
    compared_names = {pair.scenario for pair in compared}
    official = official_verdicts(
        {name: tally for name, tally in everything.items() if name not in compared_names}
    )
    for revision in dict.fromkeys(cell.revision for cell in run.cells):
        ours = our_verdicts(run, revision)
        here = {name: verdict for name, verdict in official.items() if name in ours}
        yield from pairs(revision, here, ours)


async def timed(
    client: Fixture, node: Path, command: str, home: Path
) -> tuple[dict[str, Tally], Run, Seconds]:
    """Each official scenario once, all at the same time."""
    return await in_turns(
        client.rounds,
        lambda number: by_official(node, command, EVERYTHING, home / f"official-all-{number}"),
        lambda number: by_us(command, ("--once",), home / f"ours-all-{number}"),
    )
