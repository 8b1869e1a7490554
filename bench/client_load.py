"""Clients: calls per second of each client on the same server, and what starting one costs.

Client and server share one core, as in `stdio_load.py`. On stdio the server does next to nothing; over HTTP
it is that of Assay. In memory, each client calls a server of the same framework.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Final

from .process import running, time_limit
from .request import WrongAnswer
from .result import ClientSample
from .subject import ASSAY, FASTMCP, OFFICIAL, PEERS, SUBJECTS, python_of

START_TIMEOUT: Final = 60.0
MANY: Final = 16
"""Calls at the same time, over HTTP."""
HTTPX2: Final = "httpx2"
SERVER: Final = next(subject for subject in SUBJECTS if subject.name == ASSAY)
PLAIN_STDIO: Final = [str(python_of("assay")), str(PEERS / "plain_stdio.py")]


@dataclass(frozen=True)
class Caller:
    """A client; `module` is its program in `peers`."""

    name: str
    label: str
    environment: str
    module: str
    wires: tuple[str, ...] = ("http", "stdio", "memory")

    @property
    def executable(self) -> Path:
        return python_of(self.environment)

    def command(self, task: dict[str, Any]) -> list[str]:
        return [str(self.executable), str(PEERS / f"{self.module}.py"), json.dumps(task)]


CALLERS: Final = (
    Caller(ASSAY, "Assay", "assay", "client_assay"),
    Caller(OFFICIAL, "official Python SDK", "mcp", "client_official"),
    Caller(FASTMCP, "fastmcp", "fastmcp", "client_fast"),
    Caller(HTTPX2, "httpx2 alone", "assay", "client_httpx2", wires=("http",)),
)
LABELS: Final = {caller.name: caller.label for caller in CALLERS}


def measure(
    caller: Caller, wire: str, number: int, seconds: float, log: IO[bytes]
) -> dict[str, ClientSample]:
    """Samples by kind: the name of the wire, and over HTTP also with many calls at once.

    Raises:
        WrongAnswer, TookTooLong: the measurement failed.
    """
    core = max(os.sched_getaffinity(0))
    with target_of(wire, core, log) as target:
        command = caller.command({"transport": wire, "target": target, "core": core})
        with running(command, log, pipes=True) as child, time_limit(START_TIMEOUT, caller.name):
            read_line(child)
            kinds = {wire: 1, f"{wire} {MANY}": MANY} if wire == "http" else {wire: 1}
            return {
                kind: ClientSample(round=number, **load(child, seconds, count))
                for kind, count in kinds.items()
            }


def load(child: subprocess.Popen[bytes], seconds: float, at_once: int) -> dict[str, float]:
    assert child.stdin is not None
    child.stdin.write(b"%g %d\n" % (seconds, at_once))
    figures: dict[str, float] = json.loads(read_line(child))
    return figures


@contextmanager
def target_of(wire: str, core: int, log: IO[bytes]) -> Iterator[Any]:
    """What the client connects to: a URL whose server runs meanwhile, a command, or nothing."""
    if wire != "http":
        yield PLAIN_STDIO if wire == "stdio" else None
        return
    with socket.create_server(("127.0.0.1", 0), backlog=1024) as listening:
        port, descriptor = listening.getsockname()[1], listening.fileno()
        with running(SERVER.http_command(descriptor), log, keep=(descriptor,)) as server:
            os.sched_setaffinity(server.pid, {core})
            yield f"http://127.0.0.1:{port}/mcp"


def read_line(child: subprocess.Popen[bytes]) -> bytes:
    assert child.stdout is not None
    line = child.stdout.readline()
    if not line:
        raise WrongAnswer("the client ended")
    return line


# Starting.

IMPORTS: Final = {"bare": "import asyncio, msgspec", "client": "from assay import Client"}
TIMED: Final = "from time import perf_counter as now; begin = now(); {0}; print((now() - begin) * 1e3)"


def import_ms(name: str) -> float:
    """Milliseconds of an import in a new process."""
    command = [str(python_of("assay")), "-c", TIMED.format(IMPORTS[name])]
    return float(subprocess.run(command, capture_output=True, check=True, timeout=START_TIMEOUT).stdout)


def listing_ms() -> float:
    """Milliseconds of `assay tools` on the server, as a command."""
    command = [str(python_of("assay").with_name("assay")), "tools", "--", *SERVER.stdio_command()]
    begin = time.perf_counter()
    done = subprocess.run(command, capture_output=True, check=False, timeout=START_TIMEOUT)
    elapsed = (time.perf_counter() - begin) * 1e3
    if done.returncode or b"add" not in done.stdout:
        raise WrongAnswer(f"assay tools failed: {done.stderr[-300:]!r}")
    return elapsed
