"""Let the official suite and ours judge the same fixture servers, and write docs/agreement.md.

Exit codes: 0 every difference is explained and ours takes at most half the time on our own server, 1 not so,
2 usage, 3 could not run, 4 a server did not start, 130 interrupted.
"""

import argparse
import asyncio
import os
import shutil
import signal
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from interop.official import Aborted, Exit, check_tools

from .explanation import read_explanations
from .page import page, terminal
from .record import Judged, Record
from .running import compile_ourselves, judged, placed
from .table import HERE, OWN, ROOT, FixtureServer, fixture_servers

RECORD = HERE / "record.json"
PAGE = ROOT / "docs" / "agreement.md"
LARGEST_RATIO = 0.5


def read_record() -> Record:
    return msgspec.json.decode(RECORD.read_bytes(), type=Record)


def keep(suite: str, fresh: Sequence[Judged]) -> None:
    """Put what is new into the record, and write the page."""
    servers = fixture_servers()
    known = {one.server: one for one in read_record().judged} if RECORD.exists() else {}
    known |= {one.server: one for one in fresh}
    record = Record(suite, [known[name] for name in servers if name in known])
    RECORD.write_bytes(msgspec.json.format(msgspec.json.encode(record), indent=1) + b"\n")
    PAGE.write_text(page(record, servers, read_explanations()), "utf-8")


def breaches(record: Record) -> Iterator[str]:
    yield from read_explanations().breaches(record.judged)
    for one in record.judged:
        if one.server == OWN and one.seconds.ratio > LARGEST_RATIO:
            took = f"{one.seconds.ratio:.2f} of the official suite's time"
            yield f"{OWN}: ours took {took}, and {LARGEST_RATIO} is the most it may"


def report() -> Exit:
    found = list(breaches(read_record()))
    print("\n".join((f"\nwritten: {placed(PAGE)}", *found)))
    return Exit.DOES_NOT_CONFORM if found else Exit.CONFORMS


async def judge_all(servers: Sequence[FixtureServer], options: argparse.Namespace) -> Exit:
    # SIGINT reaches us as a cancellation already; SIGTERM should too, so that no server is left behind.
    this = asyncio.current_task()
    assert this is not None
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, this.cancel)
    told = check_tools(options.node)
    print(told)
    shutil.rmtree(options.results, ignore_errors=True)
    compile_ourselves()
    for server in servers:
        print(f"\n{server.title} {server.version()}: official | ours", flush=True)
        one = await judged(server, options.node, options.environments, options.results)
        print(terminal(one), flush=True)
        keep(told.partition(" on ")[0], [one])
    print(f"\nchecks, traces and logs: {placed(options.results)}")
    return report()


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="interop.agreement", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    names = list(fixture_servers())
    add = parser.add_argument
    add("names", metavar="SERVER", nargs="*", help=f"which servers; default all of: {', '.join(names)}")
    add("--node", type=Path, default=ROOT / ".venv-node" / "bin" / "node", help="the Node to run things with")
    add("--environments", type=Path, default=ROOT / ".venv-peers", help="one Python environment per peer")
    add("--results", type=Path, default=ROOT / "results" / "agreement", help="emptied, then written")
    add("--offline", action="store_true", help="write the page again from the record and the explanations")
    options = parser.parse_args()
    if unknown := set(options.names) - {*names}:
        parser.error(f"unknown server: {', '.join(sorted(unknown))}; one of {', '.join(names)}")
    return options


def main() -> int:
    options = parse()
    os.chdir(ROOT)
    servers = fixture_servers().values()
    wanted = [server for server in servers if server.name in options.names or not options.names]
    try:
        if options.offline:
            keep(read_record().suite, [])
            return report()
        return asyncio.run(judge_all(wanted, options))
    except Aborted as aborted:
        print(f"error: {aborted}", file=sys.stderr)
        return aborted.code
    except (KeyboardInterrupt, asyncio.CancelledError):
        return Exit.INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
