"""The stores that several processes share, as tests start them."""

from __future__ import annotations

import secrets
import socket
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Protocol

from redis import Redis


class Backend(Protocol):
    """A new store behind a URL."""

    url: str

    def forget_worker(self, name: str) -> None:
        """Delete the sign of life of a process."""
        ...


class SqliteBackend:
    def __init__(self, directory: Path) -> None:
        self._path = directory / "state.db"
        self.url = f"sqlite:///{self._path}"

    def forget_worker(self, name: str) -> None:
        with closing(sqlite3.connect(self._path, isolation_level=None)) as connection:
            connection.execute("delete from workers where name = ?", (name,))


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
    return port


@contextmanager
def redis_server(program: str, directory: Path) -> Iterator[int]:
    """Run a Redis, and return its port."""
    port = free_port()
    words = [program, "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", str(directory)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            for line in process.stdout:
                if "Ready to accept connections" in line:
                    break
            yield port
        finally:
            process.terminate()


class RedisBackend:
    """A part of a Redis: each test has its own prefix."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._prefix = f"t{secrets.token_hex(6)}"
        self.url = f"redis://127.0.0.1:{port}/0?prefix={self._prefix}"

    def forget_worker(self, name: str) -> None:
        with closing(Redis(port=self._port)) as client:
            client.delete(f"{self._prefix}:{{worker-{name}}}")
