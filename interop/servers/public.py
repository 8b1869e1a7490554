"""Our client on public servers: the jobs of `public.toml`."""

from __future__ import annotations

import asyncio
import json
import sys
import time
import tomllib
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from interop.child_process import START_TIMEOUT, child, lines_until_end
from interop.features import CLOSE, Column, read_lines
from interop.official import Aborted, Exit, tail
from interop.peer import PROGRAMS
from interop.public.table import ROOT, PublicServer, public_servers
from interop.servers.table import HERE

CLIENT = PROGRAMS / "assay" / "public_client.py"
FEATURES = (
    *("connect", "roots", "every tool", "every resource", "every prompt", "updates", "at once"),
    *("nothing left", CLOSE),
)
# Features that a server may lack; the program says why.
OPTIONAL = frozenset({"roots", "every resource", "every prompt", "updates"})
MARKS = ("<!-- public table: written by `make interop` -->", "<!-- end of public table -->")
PROGRAM_TIMEOUT = 120.0
POLL = 0.05


@dataclass(frozen=True)
class PublicJob:
    server: PublicServer
    revision: str
    uses: dict[str, Any]
    """What the client does: the other entries of the server in `public.toml`."""

    @property
    def name(self) -> str:
        return f"{self.server.name}-{self.revision}"


def public_jobs(path: Path = HERE / "public.toml") -> list[PublicJob]:
    servers, table = public_servers(), tomllib.loads(path.read_text("utf-8"))
    return [
        PublicJob(servers[name], revision, {key: uses for key, uses in row.items() if key != "revisions"})
        for name, row in table.items()
        for revision in row["revisions"]
    ]


def filled(value: Any, data: str) -> Any:
    """Replace `{data}`, at any depth."""
    if isinstance(value, str):
        return value.replace("{data}", data)
    if isinstance(value, list):
        return [filled(item, data) for item in value]
    return {key: filled(item, data) for key, item in value.items()} if isinstance(value, dict) else value


@asynccontextmanager
async def started(job: PublicJob, node: str, results: Path) -> AsyncIterator[dict[str, Any]]:
    """Start the server if it listens on a port, and yield what the program gets."""
    server, places = job.server, {**job.server.places(node)}
    places["data"] = str(ROOT / places["data"])  # the servers disagree on what a relative path is relative to
    command = [word.format_map(places) for word in server.command]
    environment = {key: value.format_map(places) for key, value in server.environment.items()}
    task = {"revision": job.revision, "environment": environment, **filled(job.uses, places["data"])}
    if not server.url:
        yield {**task, "data": places["data"], "target": command}
        return
    log = results / f"{job.name}-server.log"
    async with child(command, log, environment) as process:
        assert process.stdout is not None
        drain = asyncio.create_task(process.stdout.read())
        await listening(int(places["port"]), log)
        yield {**task, "data": places["data"], "target": server.url.format_map(places)}
        drain.cancel()


async def listening(port: int, log: Path) -> None:
    """Wait until a server accepts connections: these do not say so.

    Raises:
        Aborted: it does not in time.
    """
    end = time.monotonic() + START_TIMEOUT
    while time.monotonic() < end:
        try:
            _, writer = await asyncio.open_connection("localhost", port)
        except OSError:
            await asyncio.sleep(POLL)
        else:
            writer.close()
            return
    raise Aborted(Exit.SERVER_DID_NOT_START, f"nothing listens on port {port}\n{tail(log)}".rstrip())


async def run_public_job(job: PublicJob, node: str, results: Path) -> Column:
    async with started(job, node, results) as task:
        command = (sys.executable, str(CLIENT), json.dumps(task))
        async with child(command, results / f"{job.name}.log", {"PYTHONPATH": str(PROGRAMS)}) as process:
            lines, problem = await lines_until_end(process, PROGRAM_TIMEOUT)
    server = job.server
    return Column(
        f"{server.name} {server.version()}",
        job.revision,
        server.transport,
        read_lines(lines, OPTIONAL, problem, FEATURES),
    )


async def run_public(jobs: Sequence[PublicJob], node: str, results: Path) -> list[Column]:
    """One after the other: the directory of a server belongs to one job."""
    return [await run_public_job(job, node, results) for job in jobs]
