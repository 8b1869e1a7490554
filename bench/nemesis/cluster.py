"""Several workers behind one port, whose processes can be killed."""

from __future__ import annotations

import asyncio
import os
import random
import re
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from time import monotonic
from typing import Final

import httpx2

from .history import Recorder

PROGRAM: Final = Path(__file__).with_name("program.py")
PATIENCE: Final = 60.0
PROBE: Final = 0.1
SLOW: Final = 0.5
"""Seconds that a probe takes at most while a worker serves."""
UNSHARED: Final = httpx2.Limits(max_keepalive_connections=0)
"""Each probe takes a connection of its own, which any worker may accept."""


class Cluster:
    def __init__(self, process: asyncio.subprocess.Process, url: str, recorder: Recorder) -> None:
        self._process = process
        self.url = url
        self._recorder = recorder
        self.serving = 0

    def workers(self) -> list[int]:
        path = Path(f"/proc/{self._process.pid}/task/{self._process.pid}/children")
        return [int(pid) for pid in path.read_text().split()]

    def kill(self, pid: int) -> None:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            return  # it has been killed a moment ago
        self._recorder.note("killed", pid=pid)

    async def kill_every(self, interval: float, seconds: float, seed: int) -> None:
        """Kill a random worker at each interval, unless it might be the last that serves: then nothing could
        be learned but how fast this machine starts processes."""
        choice = random.Random(seed)
        for _ in range(int(seconds / interval)):
            await asyncio.sleep(interval)
            pids = self.workers()
            if self.serving >= 2 and pids:
                self.kill(choice.choice(pids))

    async def watch(self) -> None:
        """Note when the server can be reached, and how many of its workers serve."""
        url = self.url.replace("/mcp", "/metrics")
        is_up = True
        async with httpx2.AsyncClient(timeout=2.0, limits=UNSHARED, trust_env=False) as client:
            while True:
                begin = monotonic()
                try:
                    text = (await client.get(url)).text
                    found = re.search(r"^assay_workers (\d+)", text, re.MULTILINE)
                    self.serving = 0 if found is None else int(found[1])
                except httpx2.HTTPError:
                    self.serving = 0
                # A probe that takes long has waited for a worker to start.
                if is_up and (not self.serving or monotonic() - begin > SLOW):
                    is_up = False
                    self._recorder.note("down", t=begin)
                if not is_up and self.serving:
                    is_up = True
                    self._recorder.note("up")
                await asyncio.sleep(PROBE)

    @property
    def is_running(self) -> bool:
        return self._process.returncode is None


@asynccontextmanager
async def cluster(
    directory: Path, recorder: Recorder, *, store: str | None, workers: int
) -> AsyncIterator[Cluster]:
    words = ["-m", "assay", "serve", str(PROGRAM), "--transport", "http", "--port", "0"]
    words += ["--workers", str(workers), "--metrics", *([] if store is None else ["--store", store])]
    environment = {**os.environ, "NEMESIS_NOTES": str(directory / "notes.jsonl")}
    with (directory / "server.log").open("wb") as log:
        process = await asyncio.create_subprocess_exec(
            sys.executable, *words, env=environment, stdout=asyncio.subprocess.PIPE, stderr=log
        )
    assert process.stdout is not None
    try:
        async with asyncio.timeout(PATIENCE):
            await process.stdout.readline()
            endpoint = (await process.stdout.readline()).decode()
        if "http://" not in endpoint:
            raise RuntimeError(f"the server did not start:\n{(directory / 'server.log').read_text()}")
        served = Cluster(process, endpoint.split()[-1], recorder)
        watching = asyncio.get_running_loop().create_task(served.watch())
        try:
            yield served
        finally:
            watching.cancel()
            await asyncio.wait([watching])
    finally:
        if process.returncode is None:
            process.terminate()
        try:
            async with asyncio.timeout(PATIENCE):
                await process.wait()
        except TimeoutError:
            process.kill()
        await process.stdout.read()
