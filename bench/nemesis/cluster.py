"""Several workers behind one port, whose processes can be killed."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

from .history import Recorder

PROGRAM: Final = Path(__file__).with_name("program.py")
PATIENCE: Final = 60.0


class Cluster:
    def __init__(self, process: asyncio.subprocess.Process, url: str, recorder: Recorder) -> None:
        self._process = process
        self.url = url
        self._recorder = recorder

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
        """Kill a random worker at each interval."""
        choice = random.Random(seed)
        for _ in range(int(seconds / interval)):
            await asyncio.sleep(interval)
            pids = self.workers()
            if pids:
                self.kill(choice.choice(pids))

    @property
    def is_running(self) -> bool:
        return self._process.returncode is None


@asynccontextmanager
async def cluster(
    directory: Path, recorder: Recorder, *, store: str | None, workers: int
) -> AsyncIterator[Cluster]:
    words = ["-m", "assay", "serve", str(PROGRAM), "--transport", "http", "--port", "0"]
    words += ["--workers", str(workers), *([] if store is None else ["--store", store])]
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
        yield Cluster(process, endpoint.split()[-1], recorder)
    finally:
        if process.returncode is None:
            process.terminate()
        try:
            async with asyncio.timeout(PATIENCE):
                await process.wait()
        except TimeoutError:
            process.kill()
        await process.stdout.read()
