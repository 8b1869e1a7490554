"""The stores that several processes share, as tests start them."""

from __future__ import annotations

import secrets
import sqlite3
from contextlib import closing
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


class RedisBackend:
    """A part of a Redis: each test has its own prefix."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._prefix = f"t{secrets.token_hex(6)}"
        self.url = f"redis://127.0.0.1:{port}/0?prefix={self._prefix}"

    def forget_worker(self, name: str) -> None:
        with closing(Redis(port=self._port)) as client:
            client.delete(f"{self._prefix}:{{worker-{name}}}")
