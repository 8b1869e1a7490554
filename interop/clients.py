"""Run clients of other SDKs against our servers on every revision and transport, and print what worked.

Each client is a program in `interop/peers/<name>/` on that SDK's public API, with its own environment. To add
one, write its folder and add a row to `PEERS`.
Exit codes: 0 everything works, 1 something does not, 2 usage, 3 could not run, 4 a server did not start,
130 interrupted.
"""

import argparse
import asyncio
import json
import os
import shutil
import sys
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from interop.child_process import child, http_server, lines_until_end
from interop.exit_code import check_names, exit_code, stop_on_request
from interop.features import (
    HANDSHAKE,
    RESUME,
    REVISIONS,
    TRANSPORTS,
    Cell,
    Column,
    Mark,
    as_json,
    is_complete,
    markdown,
    not_applicable,
    read_lines,
    table,
    with_block,
)
from interop.official import Exit
from interop.peer import PROGRAMS, command_of, pinned_version, run_jobs
from interop.relay import Relay, relayed

HERE = Path(__file__).parent
ROOT = HERE.parent
ASSAY = str(Path(sys.executable).with_name("assay"))
EVERYTHING = (ASSAY, "serve", "everything")
REFERENCE = (ASSAY, "serve", "reference")
FIXTURE = (ASSAY, "serve", str(PROGRAMS / "fixture.py"))
ON_HTTP = ("--transport", "http", "--port", "0")
# A program takes 5 to 10 seconds; on a busy machine each of its 21 steps may take more.
PROGRAM_TIMEOUT = 120.0


@dataclass(frozen=True)
class Peer:
    """A client of another SDK: folder of its program, title, pinned package and supported revisions."""

    name: str
    title: str
    package: str
    quick: bool = True
    revisions: tuple[str, ...] = REVISIONS

    @property
    def folder(self) -> Path:
        return PROGRAMS / self.name

    def version(self) -> str:
        return pinned_version(self.folder, self.package)

    def command(self, node: str, environments: Path) -> tuple[str, ...]:
        """The command of the program.

        Raises:
            Aborted: the SDK is not installed.
        """
        return command_of(self.folder, "client", self.package, node, environments)


PEERS = (
    Peer("python-sdk", "Python SDK", "mcp"),
    Peer("fastmcp", "fastmcp", "fastmcp"),
    Peer(
        "typescript-sdk-1", "TypeScript SDK", "@modelcontextprotocol/sdk", quick=False, revisions=(HANDSHAKE,)
    ),
    Peer("typescript-sdk-2", "TypeScript SDK", "@modelcontextprotocol/client"),
)


@dataclass(frozen=True)
class Job:
    """One client on one revision and transport."""

    peer: Peer
    revision: str
    transport: str
    command: tuple[str, ...]

    @property
    def name(self) -> str:
        return f"{self.peer.name}-{self.revision}-{self.transport}"


@asynccontextmanager
async def servers(job: Job, results: Path) -> AsyncIterator[tuple[Mapping[str, object], Relay | None]]:
    """Yield the targets for the program. On HTTP every job has separate servers, because a client that
    changes a watched resource would disturb the others."""
    if job.transport == "stdio":
        commands = {"everything": EVERYTHING, "fixture": FIXTURE, "reference": REFERENCE}
        yield {**commands, "relayed": None}, None
        return
    async with AsyncExitStack() as stack:
        enter = stack.enter_async_context
        everything = await enter(http_server((*EVERYTHING, *ON_HTTP), results / f"{job.name}-everything.log"))
        fixture = await enter(http_server((*FIXTURE, *ON_HTTP), results / f"{job.name}-fixture.log"))
        reference = await enter(http_server((*REFERENCE, *ON_HTTP), results / f"{job.name}-reference.log"))
        url, relay = await enter(relayed(fixture))
        urls = {"everything": everything, "fixture": fixture, "reference": reference, "relayed": url}
        yield urls, relay


async def run_job(job: Job, results: Path) -> Column:
    began = time.monotonic()
    async with servers(job, results) as (targets, relay):
        argument = json.dumps({"transport": job.transport, "revision": job.revision, **targets})
        environment = {"PYTHONPATH": str(PROGRAMS)}
        log = results / f"{job.name}.log"
        async with child((*job.command, argument), log, environment) as process:
            lines, problem = await lines_until_end(process, PROGRAM_TIMEOUT)
    cells = judge(lines, problem, not_applicable(job.revision, job.transport), relay)
    marks = [cell.mark for cell in cells.values()]
    counts = ", ".join(f"{marks.count(mark)} {mark.value}" for mark in Mark if mark in marks)
    print(f"  {job.name}: {counts} in {time.monotonic() - began:.1f} s", flush=True)
    return Column(f"{job.peer.title} {job.peer.version()}", job.revision, job.transport, cells)


def judge(
    lines: Sequence[str], problem: str, excused: frozenset[str], relay: Relay | None
) -> dict[str, Cell]:
    """Read the lines; a resumption counts only if the relay cut a connection."""
    cells = read_lines(lines, excused, problem)
    if relay is not None and not relay.cuts and cells[RESUME].mark is Mark.WORKS:
        cells[RESUME] = Cell(Mark.FAILS, "the relay cut no connection")
    return cells


async def run_all(jobs: Sequence[Job], options: argparse.Namespace) -> Exit:
    stop_on_request()
    began = time.monotonic()
    shutil.rmtree(options.results, ignore_errors=True)
    options.results.mkdir(parents=True)
    columns = await run_jobs(jobs, lambda job: run_job(job, options.results), options.jobs)
    (options.results / "clients.json").write_text(as_json(columns), "utf-8")
    if options.docs is not None:
        page = options.docs.read_text("utf-8")
        options.docs.write_text(with_block(page, markdown(columns)), "utf-8")
    print(f"\n{table(columns)}")
    print(f"\n{len(columns)} programs ran in {time.monotonic() - began:.0f} s; logs: {options.results}")
    return Exit.CONFORMS if is_complete(columns) else Exit.DOES_NOT_CONFORM


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="interop.clients", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    names = [peer.name for peer in PEERS]
    add("names", metavar="CLIENT", nargs="*", help=f"which clients; default all of: {', '.join(names)}")
    add("--revision", choices=REVISIONS, help="only this one; default: all that a client supports")
    add("--transport", choices=TRANSPORTS, help="only this one; default: all")
    add("--quick", action="store_true", help="skip clients that take long to install")
    add("--node", default="node", help="the Node executable")
    add("--environments", type=Path, default=ROOT / ".venv-peers", help="one Python environment per client")
    add("--results", type=Path, default=ROOT / "results" / "interop", help="emptied, then written")
    add("--docs", type=Path, help="the page to write the table to; needs all clients")
    add("--jobs", type=int, default=max(2, min(4, os.cpu_count() or 2)), help="parallel clients")
    options = parser.parse_args()
    check_names(parser, options.names, names, "client")
    if options.docs is not None and (options.names or options.quick or options.revision or options.transport):
        parser.error("--docs needs all clients, revisions and transports: the page would lose the others")
    return options


def chosen(options: argparse.Namespace) -> list[Job]:
    peers = [peer for peer in PEERS if peer.name in options.names or not options.names]
    peers = [peer for peer in peers if peer.quick or not options.quick]
    return [
        Job(peer, revision, transport, peer.command(options.node, options.environments))
        for peer in peers
        for revision in peer.revisions
        for transport in TRANSPORTS
        if options.revision in (revision, None) and options.transport in (transport, None)
    ]


def main() -> int:
    options = parse()
    return exit_code(lambda: asyncio.run(run_all(chosen(options), options)))


if __name__ == "__main__":
    sys.exit(main())
