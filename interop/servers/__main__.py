"""Run our client against servers of other SDKs, on every revision and transport that they offer, and against
public servers, and print what worked.

The servers and what they lack are in `servers.toml`, the calls of public servers in `public.toml`; the
programs of the client are in `interop/peers/assay/`.
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
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from interop.child_process import child, http_server, lines_until_end
from interop.exit_code import check_names, exit_code, stop_on_request
from interop.features import (
    CLOSE,
    HANDSHAKE,
    PER_REQUEST,
    Column,
    Mark,
    as_json,
    is_complete,
    markdown,
    markdown_table,
    read_lines,
    table,
    with_block,
)
from interop.official import Exit
from interop.peer import PROGRAMS, run_jobs
from interop.servers import public
from interop.servers.merge import lacks, merged
from interop.servers.table import HERE, FixtureServer, read_table

ROOT = HERE.parents[1]
CLIENT = PROGRAMS / "assay" / "client.py"
PROGRAM_TIMEOUT = 120.0
FEATURES = (
    *("connect", "tools", "content", "resource link", "structured content", "arguments"),
    *(
        "schema keywords",
        "tool error",
        "unknown names",
        "resources",
        "pagination",
        "templates",
        "prompts",
        "completion",
        "logging",
    ),
    *("progress", "subscription", "list changes", "sampling", "elicitation", "roots", "rounds", "cancel"),
    *("timeout", "polling", "at once", "ping", "SyncClient", "nothing left", CLOSE),
)
MARKS = ("<!-- server table: written by `make interop` -->", "<!-- end of server table -->")
QUICK_REVISIONS = (HANDSHAKE, PER_REQUEST)


@dataclass(frozen=True)
class Job:
    """Our client on one server, revision and transport."""

    server: FixtureServer
    revision: str
    transport: str
    command: list[str]
    lacks: dict[str, str]

    @property
    def name(self) -> str:
        return f"{self.server.name}-{self.revision}-{self.transport}"


@asynccontextmanager
async def target(job: Job, results: Path) -> AsyncIterator[list[str] | str]:
    """What the client connects to: a command, or the URL of a new server."""
    if job.transport == "stdio":
        yield job.command
        return
    environment = {"PYTHONPATH": str(PROGRAMS)}
    async with http_server(job.command, results / f"{job.name}-server.log", environment) as url:
        yield url


async def run_job(job: Job, results: Path) -> Column:
    began = time.monotonic()
    async with target(job, results) as where:
        task = {"transport": job.transport, "revision": job.revision, "target": where, "lacks": job.lacks}
        command = (sys.executable, str(CLIENT), json.dumps(task))
        async with child(command, results / f"{job.name}.log", {"PYTHONPATH": str(PROGRAMS)}) as process:
            lines, problem = await lines_until_end(process, PROGRAM_TIMEOUT)
    cells = read_lines(lines, frozenset(job.lacks), problem, FEATURES)
    marks = [cell.mark for cell in cells.values()]
    counts = ", ".join(f"{marks.count(mark)} {mark.value}" for mark in Mark if mark in marks)
    print(f"  {job.name}: {counts} in {time.monotonic() - began:.1f} s", flush=True)
    return Column(f"{job.server.title} {job.server.version()}", job.revision, job.transport, cells)


async def run_all(jobs: Sequence[Job], options: argparse.Namespace) -> Exit:
    stop_on_request()
    began = time.monotonic()
    shutil.rmtree(options.results, ignore_errors=True)
    options.results.mkdir(parents=True)
    columns = await run_jobs(jobs, lambda job: run_job(job, options.results), options.jobs)
    publics = await public.run_public(public_jobs(options), options.node, options.results)
    (options.results / "servers.json").write_text(as_json([*columns, *publics]), "utf-8")
    if options.docs is not None:
        write_page(options.docs, columns, publics)
    for group in filter(None, (merged(columns), publics)):
        print(f"\n{table(group)}")
    count = len(columns) + len(publics)
    print(f"\n{count} programs ran in {time.monotonic() - began:.0f} s; logs: {options.results}")
    return Exit.CONFORMS if is_complete([*columns, *publics]) else Exit.DOES_NOT_CONFORM


def write_page(path: Path, columns: Sequence[Column], publics: Sequence[Column]) -> None:
    page = path.read_text("utf-8")
    page = with_block(page, f"{markdown_table(merged(columns))}\n\n{lacks(read_table())}", MARKS)
    path.write_text(with_block(page, markdown(publics), public.MARKS), "utf-8")


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="interop.servers", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    names = [server.name for server in read_table().server] + [
        *dict.fromkeys(job.server.name for job in public.public_jobs())
    ]
    add("names", metavar="SERVER", nargs="*", help=f"which servers; default all of: {', '.join(names)}")
    add("--revision", help="only this one; default: all that a server supports")
    add("--transport", help="only this one; default: all")
    add("--quick", action="store_true", help="two revisions of the servers that install and start fast")
    add("--node", default="node", help="the Node executable")
    add("--environments", type=Path, default=ROOT / ".venv-peers", help="one Python environment per server")
    add("--results", type=Path, default=ROOT / "results" / "interop-servers", help="emptied, then written")
    add("--docs", type=Path, help="the page to write the table to; needs all servers")
    add("--jobs", type=int, default=max(2, min(4, os.cpu_count() or 2)), help="parallel clients")
    options = parser.parse_args()
    check_names(parser, options.names, names, "server")
    if options.docs is not None and (options.names or options.quick or options.revision or options.transport):
        parser.error("--docs needs all servers, revisions and transports: the page would lose the others")
    return options


def chosen(options: argparse.Namespace) -> list[Job]:
    known = read_table()
    return [
        Job(
            server,
            revision,
            transport,
            server.command(options.node, options.environments, transport),
            known.lacks(server.name, transport, revision),
        )
        for server in known.server
        if server.name in options.names or not options.names
        for transport in (server.quick if options.quick else server.transports)
        for revision in server.revisions
        if options.revision in (revision, None) and options.transport in (transport, None)
        if not options.quick or revision in QUICK_REVISIONS
    ]


def public_jobs(options: argparse.Namespace) -> list[public.PublicJob]:
    """The jobs on public servers: those that are named, or all but in a quick run."""
    return [
        job
        for job in public.public_jobs()
        if job.server.name in options.names or not (options.names or options.quick)
        if options.revision in (job.revision, None) and options.transport in (job.server.transport, None)
    ]


def main() -> int:
    options = parse()
    os.chdir(ROOT)
    return exit_code(lambda: asyncio.run(run_all(chosen(options), options)))


if __name__ == "__main__":
    sys.exit(main())
