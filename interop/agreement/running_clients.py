"""Run both suites with one client, each as the command that its users call."""

import os
import re
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path

from assay.lab.harness.run.run import Run
from interop.agreement.record import Judged, Pair, Seconds, official_verdicts, our_verdicts, pairs
from interop.agreement.running import ASSAY, EVERYTHING, finished, in_turns, installed, stored_run
from interop.agreement.table import PEERS, Fixture
from interop.official import PACKAGE, Aborted, Exit, Tally, tail, tally_of

PATIENCE = 120
"""Seconds that a client has for one scenario: as many start at once as there are scenarios."""
AT_ONCE = "48"
STAMP = re.compile(r"-\d{4}-\d\d-\d\dT[\d-]+Z$")


def official_tallies(directory: Path) -> dict[str, Tally]:
    """What a run left behind: a directory per scenario, below another where its name has a slash."""
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
    line = [*begin, *options, "--timeout", str(PATIENCE * 1000), "--output-dir", str(directory)]
    seconds = await finished(line, log)
    tallies = official_tallies(directory)
    if not tallies:
        raise Aborted(Exit.COULD_NOT_RUN, f"the official suite left no checks:\n{tail(log)}")
    return tallies, seconds


async def by_us(command: str, options: Sequence[str], directory: Path) -> tuple[Run, float]:
    begin = [ASSAY, "client", "--command", command, "--suite", "official", "--jobs", AT_ONCE]
    line = [*begin, *options, "--timeout", str(PATIENCE), "--output", str(directory)]
    log = directory.with_suffix(".log")
    seconds = await finished(line, log)
    return stored_run(directory, log), seconds


async def judged_client(client: Fixture, node: Path, environments: Path, results: Path) -> Judged:
    """Both suites at each revision, and in turns on all scenarios once to be timed."""
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
    return Judged(client.name, client.version(), seconds, compared)


def elsewhere(compared: Sequence[Pair], everything: dict[str, Tally], run: Run) -> Iterator[Pair]:
    """Extensions belong to no revision: the official suite plays them only where none is named."""
    seen = {pair.scenario for pair in compared}
    official = official_verdicts({name: tally for name, tally in everything.items() if name not in seen})
    for revision in dict.fromkeys(cell.revision for cell in run.cells):
        ours = our_verdicts(run, revision)
        here = {name: said for name, said in official.items() if name in ours}
        yield from pairs(revision, here, ours)


async def timed(
    client: Fixture, node: Path, command: str, home: Path
) -> tuple[dict[str, Tally], Run, Seconds]:
    """Each of the official scenarios once, as many at once as there are."""
    return await in_turns(
        client.rounds,
        lambda number: by_official(node, command, EVERYTHING, home / f"official-all-{number}"),
        lambda number: by_us(command, ("--once",), home / f"ours-all-{number}"),
    )
