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
from assay.lab.harness.sabotage.saboteur import LOCKED
from assay.lab.harness.scenario import Role
from assay.lab.harness.transport import Transport
from assay.lab.suites import SHIPPED, suite_named
from assay.revisions.registry import HANDSHAKE, PER_REQUEST
from interop.kill_rate.official_run import FAILURE, Booth
from interop.kill_rate.our_run import Candidate, Seen, see_all
from interop.kill_rate.page import page, terminal
from interop.kill_rate.record import HERE, Attempt, Record, write_record
from interop.official import Aborted, Exit, check_tools, terminated

ROOT = HERE.parents[1]
PAGE = ROOT / "docs" / "evidence" / "kill-rate.md"
RESULTS = ROOT / "results" / "kill-rate"
# The official suite has two wires, one for each kind of revision; these are the newest of each.
REVISIONS = (HANDSHAKE[-1], PER_REQUEST[-1])
SUITES = tuple(name for name, shipped in SHIPPED.items() if shipped.role is Role.SERVER)
USAGE = 2


def candidates(suites: Sequence[str], globs: Sequence[str]) -> list[Candidate]:
    every = [Candidate(suite, one) for suite in map(suite_named, suites) for one in suite.saboteurs.values()]
    return [
        one
        for one in every
        if Transport.HTTP in one.saboteur.transports
        and one.saboteur.server != LOCKED  # the official suite shows no tokens to servers
        and (not globs or any(matches(glob, one.saboteur.id) for glob in globs))
    ]


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


async def attempts_of(chosen: Sequence[Candidate], seen: Seen, options: argparse.Namespace) -> list[Attempt]:
    """The official suite on each, several at once."""
    booth, gate, numbers = Booth(options.node, RESULTS), asyncio.Semaphore(options.jobs), count(1)
    played = [one for one in chosen if seen.revisions(one)]
    say(f"{len(played)} have something to break here: then the official suite …")
    for one in played:
        for revision in seen.revisions(one):
            await booth.prepare(revision, one.saboteur.double)

    async def attempt(candidate: Candidate) -> list[Attempt]:
        async with gate:
            attempts = [one async for one in attempts_at(candidate, seen, booth)]
        said = [complaint for one in attempts for complaint in one.official]
        say(f"[{next(numbers)}/{len(played)}] {candidate.name}: {said[-1] if said else 'nothing'}")
        return attempts

    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(attempt(one)) for one in played]
    except ExceptionGroup as faults:
        raise faults.exceptions[0] from faults
    return [one for task in tasks for one in task.result()]


async def attempts_at(candidate: Candidate, seen: Seen, booth: Booth) -> AsyncIterator[Attempt]:
    """Revision by revision; a FAILURE is as bad as it gets, so nothing is played after one."""
    for revision in seen.revisions(candidate):
        heard, bad = await booth.hear(candidate.saboteur, revision, candidate.name)
        yield Attempt(
            suite=candidate.suite.name,
            saboteur=candidate.saboteur.id,
            revision=revision.date,
            fault=candidate.saboteur.fault,
            ours=seen.at_home(candidate, revision),
            shows=seen.on_fixtures(candidate, revision),
            acted=heard.acted,
            official=bad,
        )
        if any(complaint.startswith(FAILURE) for complaint in bad):
            return


async def measure(options: argparse.Namespace) -> int:
    suite = check_tools(options.node)
    chosen = candidates(options.suite or SUITES, options.saboteur)
    if not chosen:
        say(f"error: no such saboteur: {', '.join(options.saboteur)}\n  `assay list --saboteurs` shows all")
        return USAGE
    if options.fresh:
        shutil.rmtree(RESULTS, ignore_errors=True)
    say(f"{len(chosen)} saboteurs: first our own checks …")
    seen = await see_all(chosen, REVISIONS)
    attempts = await attempts_of(chosen, seen, options)
    print(terminal(attempts))
    if not (options.saboteur or options.suite):
        elsewhere = [one.name for one in chosen if not seen.revisions(one)]
        record = Record(suite.partition(" on ")[0], [one.date for one in REVISIONS], elsewhere, attempts)
        write_record(record)
        PAGE.write_text(page(record), "utf-8")
        print(f"who got away: {PAGE.relative_to(ROOT)}")
    away = [
        f"{one.name} at {revision} got away from our own checks"
        for one in chosen
        for revision in seen.revisions(one)
        if not seen.at_home(one, revision)
    ]
    for line in away:
        say(line)
    return Exit.DOES_NOT_CONFORM if away else Exit.CONFORMS


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="interop.kill_rate", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("saboteur", nargs="*", metavar="GLOB", help="by id; default: all")
    parser.add_argument("--suite", action="append", choices=SUITES, help="default: every suite")
    parser.add_argument("--node", type=Path, default=Path("node"), help="the Node to run the suite with")
    parser.add_argument("--jobs", type=int, default=2, metavar="N", help="at once; default: 2")
    parser.add_argument("--fresh", action="store_true", help="ask the official suite again")
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
