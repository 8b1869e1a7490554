"""Run the official suite against our saboteurs and print its kill rate beside ours, by area.

  python -m interop.kill_rate                     every saboteur that works over HTTP; writes the page
  python -m interop.kill_rate 'tools.*' 'http.*'  only these ids; prints only
  python -m interop.kill_rate --fresh             discards the stored verdicts of the official suite first

The page is docs/evidence/kill-rate.md. Verdicts are stored below `results/kill-rate`, so an interrupted run
can be resumed.

Exit codes: 0 done, 1 our suite missed a saboteur, 2 no such saboteur, 3 could not run, 4 the server did not
start, 130 interrupted.
"""

import argparse
import asyncio
import shutil
import signal
import sys
from collections.abc import AsyncIterator, Sequence
from itertools import count
from pathlib import Path

from assay.lab.harness.naming import matches
from assay.lab.harness.sabotage.saboteur import WITH_TOKENS
from assay.lab.harness.scenario import Role
from assay.lab.harness.transport import Transport
from assay.lab.suites import SHIPPED, suite_named
from assay.revisions.registry import HANDSHAKE, PER_REQUEST
from interop.kill_rate.official_run import FAILURE, OfficialSuite
from interop.kill_rate.our_run import Candidate, OurVerdicts, judge_all
from interop.kill_rate.page import page, terminal
from interop.kill_rate.record import HERE, Attempt, Record, write_record
from interop.official import Aborted, Exit, check_tools, terminated

ROOT = HERE.parents[1]
PAGE = ROOT / "docs" / "evidence" / "kill-rate.md"
RESULTS = ROOT / "results" / "kill-rate"
# The newest revision with a handshake and the newest without one.
REVISIONS = (HANDSHAKE[-1], PER_REQUEST[-1])
SUITES = tuple(name for name, shipped in SHIPPED.items() if shipped.role is Role.SERVER)
USAGE = 2


def candidates(suites: Sequence[str], globs: Sequence[str]) -> list[Candidate]:
    every = [
        Candidate(suite, candidate)
        for suite in map(suite_named, suites)
        for candidate in suite.saboteurs.values()
    ]
    return [
        candidate
        for candidate in every
        if Transport.HTTP in candidate.saboteur.transports
        and candidate.saboteur.server != WITH_TOKENS  # the official suite sends no tokens
        and (not globs or any(matches(glob, candidate.saboteur.id) for glob in globs))
    ]


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


async def attempts_of(
    chosen: Sequence[Candidate], verdicts: OurVerdicts, options: argparse.Namespace
) -> list[Attempt]:
    """Run the official suite on each saboteur, several in parallel."""
    official, limit = OfficialSuite(options.node, RESULTS), asyncio.Semaphore(options.jobs)
    numbers = count(1)
    tested = [candidate for candidate in chosen if verdicts.revisions(candidate)]
    say(f"{len(tested)} saboteurs apply here: now the official suite …")
    for candidate in tested:
        for revision in verdicts.revisions(candidate):
            await official.prepare(revision, candidate.saboteur.double)

    async def attempt(candidate: Candidate) -> list[Attempt]:
        async with limit:
            attempts = [result async for result in attempts_at(candidate, verdicts, official)]
        complaints = [complaint for result in attempts for complaint in result.official]
        say(
            f"[{next(numbers)}/{len(tested)}] {candidate.name}: {complaints[-1] if complaints else 'nothing'}"
        )
        return attempts

    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(attempt(candidate)) for candidate in tested]
    except ExceptionGroup as faults:
        raise faults.exceptions[0] from faults
    return [result for task in tasks for result in task.result()]


async def attempts_at(
    candidate: Candidate, verdicts: OurVerdicts, official: OfficialSuite
) -> AsyncIterator[Attempt]:
    """One attempt per revision, until the first FAILURE."""
    for revision in verdicts.revisions(candidate):
        report, unusual = await official.judge(candidate.saboteur, revision, candidate.name)
        yield Attempt(
            suite=candidate.suite.name,
            saboteur=candidate.saboteur.id,
            revision=revision.date,
            fault=candidate.saboteur.fault,
            ours=verdicts.on_own_server(candidate, revision),
            shows=verdicts.on_fixtures(candidate, revision),
            acted=report.acted,
            official=unusual,
        )
        if any(complaint.startswith(FAILURE) for complaint in unusual):
            return


async def measure(options: argparse.Namespace) -> int:
    suite = check_tools(options.node)
    chosen = candidates(options.suite or SUITES, options.saboteur)
    if not chosen:
        say(f"error: no such saboteur: {', '.join(options.saboteur)}\n  `assay list --saboteurs` shows all")
        return USAGE
    if options.fresh:
        shutil.rmtree(RESULTS, ignore_errors=True)
    say(f"{len(chosen)} saboteurs: our own checks first …")
    verdicts = await judge_all(chosen, REVISIONS)
    attempts = await attempts_of(chosen, verdicts, options)
    print(terminal(attempts))
    if not (options.saboteur or options.suite):
        elsewhere = [candidate.name for candidate in chosen if not verdicts.revisions(candidate)]
        record = Record(
            suite.partition(" on ")[0], [revision.date for revision in REVISIONS], elsewhere, attempts
        )
        write_record(record)
        PAGE.write_text(page(record), "utf-8")
        print(f"written: {PAGE.relative_to(ROOT)}")
    missed = [
        f"{candidate.name} at {revision} was missed by our own checks"
        for candidate in chosen
        for revision in verdicts.revisions(candidate)
        if not verdicts.on_own_server(candidate, revision)
    ]
    for line in missed:
        say(line)
    return Exit.DOES_NOT_CONFORM if missed else Exit.CONFORMS


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="interop.kill_rate", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("saboteur", nargs="*", metavar="GLOB", help="by id; default: all")
    parser.add_argument("--suite", action="append", choices=SUITES, help="default: every suite")
    parser.add_argument("--node", type=Path, default=Path("node"), help="the Node executable")
    parser.add_argument("--jobs", type=int, default=2, metavar="N", help="parallel runs; default: 2")
    parser.add_argument("--fresh", action="store_true", help="discard stored verdicts of the official suite")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, terminated)
    try:
        return asyncio.run(measure(options))
    except Aborted as aborted:
        say(f"error: {aborted}")
        return aborted.code
    except KeyboardInterrupt:
        return Exit.INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
