"""Run the client scenarios of the official suite with the bundled everything client and count their checks.

Every scenario runs at each of its revisions, in a process of the suite for itself, a few at the same time:
the suite alone would start all clients at once, and some scenarios measure milliseconds. This way the
client's exit code counts, too.

Exit codes: 0 conforms, 1 does not conform, 3 could not run, 130 interrupted.
"""

import argparse
import asyncio
import re
import shutil
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from interop.child_process import child, lines_until_end
from interop.exit_code import check_names, exit_code, stop_on_request
from interop.official import (
    PACKAGE,
    RESULTS,
    Aborted,
    Exit,
    Run,
    Tally,
    check_tools,
    judge,
    table,
    tail,
    tally_of,
)

# The suite splits the command at spaces.
SUBJECT = (sys.executable, "-m", "assay.bundled.everything_client")
RUN = Run("client", ("client",), scenarios=48, successes=800)
AT_ONCE = 4
"""Runs at the same time: their processes mostly wait for each other."""
TIMEOUT = 30
"""Seconds for one run."""
LISTED = re.compile(r"\s+- (?P<name>\S+) \[(?P<revisions>[^]]+)]")
EXTENSION = "extension"
"""Listed instead of revisions."""


class Case(NamedTuple):
    scenario: str
    revision: str

    @property
    def options(self) -> tuple[str, ...]:
        chosen = () if self.revision == EXTENSION else ("--spec-version", self.revision)
        return ("--scenario", self.scenario, *chosen)


class Suite(NamedTuple):
    node: Path
    directory: Path

    async def lines(self, words: Sequence[str], log: Path, timeout: float) -> tuple[list[str], str]:
        """The output of the suite, and how it failed. Node keeps what it compiled for the next process."""
        command = (str(self.node), str(PACKAGE / "dist" / "index.js"), *words)
        async with child(command, log, {"NODE_COMPILE_CACHE": str(self.directory / "cache")}) as process:
            return await lines_until_end(process, timeout)

    async def cases(self) -> list[Case]:
        """
        Raises:
            Aborted: the suite lists none.
        """
        log = self.directory / "list.log"
        lines, problem = await self.lines(("list", "--client"), log, TIMEOUT)
        cases = list(read_cases(lines))
        if not cases:
            raise Aborted(Exit.COULD_NOT_RUN, f"the suite lists no client scenarios: {problem}\n{tail(log)}")
        return cases

    async def run(self, case: Case) -> Tally:
        place = self.directory / f"{case.scenario.replace('/', '-')}-{case.revision}"
        place.mkdir()
        limit = ("--timeout", str(TIMEOUT * 1000))
        words = ("client", "--command", " ".join(SUBJECT), *case.options, *limit, "--output-dir", str(place))
        lines, problem = await self.lines(words, place / "errors.log", 2 * TIMEOUT)
        (place / "suite.log").write_text("".join(lines), "utf-8")
        return read_tally(place.rglob("checks.json"), problem)


def read_cases(lines: Iterable[str]) -> Iterable[Case]:
    """The scenarios that the suite lists, once for each revision."""
    for match in filter(None, map(LISTED.match, lines)):
        for revision in match["revisions"].split(","):
            yield Case(match["name"], revision.strip())


def read_tally(files: Iterable[Path], problem: str) -> Tally:
    """The checks of one run. The suite exits with an error if the client did."""
    tally = Tally()
    for path in files:
        tally = tally_of(path)
    if problem and not tally.complaints:
        tally.complaints.append(problem)
    return tally


def by_scenario(tallies: Mapping[Case, Tally]) -> dict[str, Tally]:
    """The checks of each scenario at all its revisions. Every revision must prove something."""
    merged: dict[str, Tally] = {}
    for case, tally in tallies.items():
        total = merged.setdefault(case.scenario, Tally(proved=True))
        total.counts += tally.counts
        total.complaints += [f"{case.revision}: {complaint}" for complaint in tally.complaints]
        if not tally.proved and not tally.complaints:
            total.complaints.append(f"{case.revision}: no SUCCESS about its subject")
    return merged


async def run_all(suite: Suite, cases: Sequence[Case]) -> dict[Case, Tally]:
    places = asyncio.Semaphore(AT_ONCE)

    async def run_one(case: Case) -> Tally:
        async with places:
            return await suite.run(case)

    async with asyncio.TaskGroup() as group:
        tasks = {case: group.create_task(run_one(case)) for case in cases}
    return {case: task.result() for case, task in tasks.items()}


async def judge_client(parser: argparse.ArgumentParser, options: argparse.Namespace) -> Exit:
    stop_on_request()
    print(f"\n{check_tools(options.node)}\nsubject: python {' '.join(SUBJECT[1:])}")
    directory = RESULTS / RUN.name
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True)
    suite = Suite(options.node, directory)
    cases = await suite.cases()
    check_names(parser, options.scenarios, {case.scenario for case in cases}, "scenario")
    chosen = [case for case in cases if not options.scenarios or case.scenario in options.scenarios]
    tallies = by_scenario(await run_all(suite, chosen))
    needed = RUN if len(chosen) == len(cases) else replace(RUN, scenarios=len(tallies), successes=1)
    faults = judge(needed, tallies)
    print(f"{len(chosen)} runs, each scenario at all its revisions\n\n{table(RUN, tallies, faults)}")
    return Exit.DOES_NOT_CONFORM if faults else Exit.CONFORMS


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("scenarios", nargs="*", metavar="SCENARIO", help="only these; default: all")
    parser.add_argument("--node", type=Path, default=Path("node"), help="the Node executable")
    options = parser.parse_args()
    return exit_code(lambda: asyncio.run(judge_client(parser, options)))


if __name__ == "__main__":
    sys.exit(main())
