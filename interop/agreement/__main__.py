"""Run the official suite and ours on the same fixture servers, or with --clients on the same fixture clients.

Writes docs/evidence/agreement.md or docs/evidence/client-agreement.md.

Exit codes: 0 every difference is explained and our suite is fast enough, 1 otherwise, 2 usage, 3 could not
run, 4 a server did not start, 130 interrupted.
"""

import argparse
import asyncio
import os
import shutil
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from interop.agreement.page import page, terminal
from interop.agreement.record import Record, SubjectResult
from interop.agreement.server_run import compile_ourselves, placed
from interop.agreement.side import CLIENTS, SERVERS, Side
from interop.agreement.table import ROOT, Fixture
from interop.exit_code import check_names, exit_code, stop_on_request
from interop.official import Exit, check_tools


def keep(side: Side, suite: str, fresh: Sequence[SubjectResult]) -> None:
    """Merge new results into the record and write the page."""
    known = {result.subject: result for result in side.record().judged} if side.record_file.exists() else {}
    known |= {result.subject: result for result in fresh}
    record = Record(suite, [known[name] for name in side.fixtures if name in known])
    side.record_file.write_bytes(msgspec.json.format(msgspec.json.encode(record), indent=1) + b"\n")
    side.page.write_text(page(record, side, side.explanations), "utf-8")


def breaches(side: Side, record: Record) -> Iterator[str]:
    yield from side.explanations.breaches(record.judged)
    for result in record.judged:
        if result.subject in side.timed and result.seconds.ratio > side.largest_ratio:
            ratio = f"{result.seconds.ratio:.2f} of the official suite's time"
            yield f"{result.subject}: our suite took {ratio}; the limit is {side.largest_ratio}"


def report(side: Side) -> Exit:
    problems = list(breaches(side, side.record()))
    print("\n".join((f"\nwritten: {placed(side.page)}", *problems)))
    return Exit.DOES_NOT_CONFORM if problems else Exit.CONFORMS


async def judge_all(side: Side, fixtures: Sequence[Fixture], options: argparse.Namespace) -> Exit:
    stop_on_request()
    suite_version = check_tools(options.node)
    print(suite_version)
    results = options.results / side.word
    shutil.rmtree(results, ignore_errors=True)
    compile_ourselves()
    for subject in fixtures:
        print(f"\n{subject.title} {subject.version()}: official | ours", flush=True)
        result = await side.judge(subject, options.node, options.environments, results)
        print(terminal(result), flush=True)
        keep(side, suite_version.partition(" on ")[0], [result])
    print(f"\nchecks, traces and logs: {placed(results)}")
    return report(side)


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="interop.agreement", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("names", metavar="NAME", nargs="*", help="a subject of the table; default: all")
    add("--clients", action="store_true", help="judge clients instead of servers")
    add("--node", type=Path, default=ROOT / ".venv-node" / "bin" / "node", help="the Node executable")
    add("--environments", type=Path, default=ROOT / ".venv-peers", help="one Python environment per peer")
    add("--results", type=Path, default=ROOT / "results" / "agreement", help="emptied, then written")
    add("--offline", action="store_true", help="rewrite the page from the record and the explanations")
    options = parser.parse_args()
    options.side = CLIENTS if options.clients else SERVERS
    check_names(parser, options.names, options.side.fixtures, options.side.word)
    return options


def execute(options: argparse.Namespace) -> Exit:
    side: Side = options.side
    if options.offline:
        keep(side, side.record().suite, [])
        return report(side)
    fixtures = [
        fixture for fixture in side.fixtures.values() if fixture.name in options.names or not options.names
    ]
    return asyncio.run(judge_all(side, fixtures, options))


def main() -> int:
    options = parse()
    os.chdir(ROOT)
    return exit_code(lambda: execute(options))


if __name__ == "__main__":
    sys.exit(main())
