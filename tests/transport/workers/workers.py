"""A server with several workers in processes of its own."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import select
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from time import monotonic
from typing import Any

from assay.revisions.registry import HANDSHAKE
from tests.driving.process import environment

PATIENCE = 20.0
SERVER = """
import os, signal, time
from assay import Server

server = Server("several", "1.0.0", store="memory:")

@server.tool
async def pid() -> int:
    return os.getpid()

@server.tool
async def version() -> list[str]:
    return [{version!r}]

@server.tool
async def block(seconds: float) -> None:
    time.sleep(seconds)

@server.tool
async def visible() -> list[str]:
    with open("/proc/self/cmdline") as line, open("/proc/self/environ") as variables:
        return [line.read(), variables.read(), server.sealer.seal(b"x")]

def say(url: str) -> None:
    print(url, flush=True)

if __name__ == "__main__":
    server.run("http", port=0, workers=2, worker_timeout=2, sessions="off", announce=say{options})
"""


class Workers:
    """The parent process, and its output."""

    def __init__(self, process: subprocess.Popen[str], errors: Path) -> None:
        self.process = process
        self._errors = errors
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line.startswith("http://localhost:"), self.errors
        self.port = int(line.split(":")[2].split("/")[0])

    @property
    def errors(self) -> str:
        return self._errors.read_text()

    def request(self, method: str, path: str, body: Any = None, **headers: str) -> http.client.HTTPResponse:
        """Each request takes a connection of its own, which any worker may accept."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        data = None if body is None else json.dumps(body)
        try:
            # The response then owns the socket, and closes it.
            connection.request(method, path, data, {**headers, "Connection": "close"})
            return connection.getresponse()
        except OSError:
            connection.close()
            raise

    def call(self, name: str, **arguments: Any) -> Any:
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name}}
        message["params"]["arguments"] = arguments  # type: ignore[index]
        headers = {
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            "MCP-Protocol-Version": HANDSHAKE[-1].date,
        }
        with self.request("POST", "/mcp", message, **headers) as response:
            if response.status == 503 and response.headers["Retry-After"]:
                # The worker was told to stop after the connection had reached it.
                return self.call(name, **arguments)
            assert response.status == 200, response.read()
            return json.load(response)["result"]["structuredContent"]["result"]

    def pids(self) -> set[int]:
        return {self.call("pid") for _ in range(16)}

    def until(self, condition: Callable[[], bool]) -> None:
        """Wait for a state. Each look takes a request, so that a machine with one core gets on."""
        deadline = monotonic() + PATIENCE
        while not condition():
            assert monotonic() < deadline, f"the state was not reached\n{self.errors}"
            self.request("GET", "/health").close()

    def wait_for_two(self) -> set[int]:
        self.until(lambda: len(self.pids()) == 2)
        return self.pids()

    def send(self, number: int) -> None:
        self.process.send_signal(number)


def start(path: Path, *words: str, **options: Any) -> subprocess.Popen[str]:
    """Start Python with these words; its own process, because a test here is about processes."""
    errors = path.with_suffix(".errors")
    with errors.open("w") as stream:
        return subprocess.Popen(
            [sys.executable, *words],
            stdout=subprocess.PIPE,
            stderr=stream,
            text=True,
            env={**environment(), **options.pop("env", {})},
            cwd=path.parent,
            **options,
        )


def write(path: Path, version: str = "one", options: str = "") -> Path:
    path.write_text(SERVER.format(version=version, options=options))
    return path


@contextlib.contextmanager
def workers(path: Path, *words: str, **options: Any) -> Iterator[Workers]:
    process = start(path, *(words or (str(path),)), **options)
    try:
        yield Workers(process, path.with_suffix(".errors"))
    finally:
        process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(PATIENCE)
        process.kill()
        process.wait()
        assert process.stdout is not None
        process.stdout.close()


def await_end(pids: Iterable[int]) -> None:
    """Wait until these processes, which may be no children of this one, have ended."""
    for pid in pids:
        try:
            descriptor = os.pidfd_open(pid)
        except ProcessLookupError:
            continue
        try:
            assert select.select([descriptor], [], [], PATIENCE)[0], f"process {pid} has not ended"
        finally:
            os.close(descriptor)
