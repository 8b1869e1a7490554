"""Open, use and close clients over and over in one process: `python -m bench.client_churn`.

Memory, file descriptors, tasks, threads and child processes must not grow. The HTTP server is another
process, so that what it holds does not count.

Exit codes: 0 nothing grew, 1 something did.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import gc
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

from assay import Client, Server, Stdio
from assay.revisions.registry import HANDSHAKE, PER_REQUEST

WARM: Final = 0.1
"""Share of the rounds after which counting starts: by then caches and pools are full."""
SAMPLES: Final = 9
MOST_GROWTH: Final = 2 * 1024 * 1024
"""Bytes of resident memory. A leak of 300 bytes per client exceeds it in 10,000 rounds."""
REVISIONS: Final = (HANDSHAKE[-1].date, PER_REQUEST[-1].date)

ROOT: Final = Path(__file__).parents[1]

server = Server("churn")


@server.tool
async def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


class Sample(NamedTuple):
    rounds: int
    resident: int
    descriptors: int
    tasks: int
    threads: int
    children: int

    def __str__(self) -> str:
        return (
            f"{self.rounds:>8,} {self.resident / 1024 / 1024:>8.1f} {self.descriptors:>5} {self.tasks:>6}"
            f" {self.threads:>8} {self.children:>9}"
        )


HEAD: Final = f"{'rounds':>8} {'RSS MiB':>8} {'fds':>5} {'tasks':>6} {'threads':>8} {'children':>9}"


def sample(rounds: int) -> Sample:
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    pid = os.getpid()
    return Sample(
        rounds,
        pages * os.sysconf("SC_PAGE_SIZE"),
        len(os.listdir("/proc/self/fd")),
        len(asyncio.all_tasks()),
        threading.active_count(),
        len(Path(f"/proc/{pid}/task/{pid}/children").read_text().split()),
    )


@contextlib.contextmanager
def http_server() -> Iterator[str]:
    """The server in another process."""
    command = [sys.executable, "-m", "bench.client_churn", "--serve"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, cwd=ROOT)
    assert process.stdout is not None
    try:
        yield f"http://127.0.0.1:{int(process.stdout.readline())}/mcp"
    finally:
        process.terminate()
        process.wait()
        process.stdout.close()


async def serve_http() -> None:
    from assay import Limits
    from assay.transport.http1.listening import listen
    from assay.transport.http1.server import serve

    bound = listen("127.0.0.1", 0)
    print(bound.getsockname()[1], flush=True)
    await serve(server.asgi(), bound, asyncio.Event().wait, limits=Limits())


async def churn(target: Any, rounds: int, revision: str) -> list[Sample]:
    samples = []
    marks = {round(rounds * (WARM + (1 - WARM) * number / SAMPLES)) for number in range(SAMPLES + 1)}
    for number in range(1, rounds + 1):
        async with Client(target, revision=revision) as client:
            assert await client.call_as(int, "add", a=number, b=1) == number + 1
        if number in marks:
            samples.append(sample(number))
            print(samples[-1], flush=True)
    return samples


def growth(samples: list[Sample]) -> list[str]:
    """What has grown from the first sample to the last."""
    first, last = samples[0], samples[-1]
    grown = [
        f"{name}: {getattr(first, name)} → {getattr(last, name)}"
        for name in ("descriptors", "tasks", "threads", "children")
        if getattr(last, name) > getattr(first, name)
    ]
    if last.resident - first.resident > MOST_GROWTH:
        grown.append(f"RSS: {first.resident} → {last.resident} bytes")
    return grown


def run(name: str, target: Any, rounds: int, revision: str) -> bool:
    print(f"\n{name}, {revision}\n{HEAD}", flush=True)
    start = time.perf_counter()
    samples = asyncio.run(churn(target, rounds, revision))
    grown = growth(samples)
    verdict = "flat" if not grown else f"grown: {', '.join(grown)}"
    print(f"{verdict}; {rounds / (time.perf_counter() - start):,.0f} clients per second", flush=True)
    return not grown


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=10_000, help="over HTTP and in memory (10,000)")
    parser.add_argument("--processes", type=int, default=300, help="on stdio (300)")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        with contextlib.suppress(KeyboardInterrupt):
            asyncio.run(serve_http())
        return 0
    command = Stdio(sys.executable, "-c", "from bench.client_churn import server; server.run()", cwd=ROOT)
    flat = []
    with http_server() as url:
        for revision in REVISIONS:
            flat.append(run("memory", server, options.rounds, revision))
            flat.append(run("HTTP", url, options.rounds, revision))
    flat.append(run("stdio", command, options.processes, REVISIONS[-1]))
    return 0 if all(flat) else 1


if __name__ == "__main__":
    sys.exit(main())
