"""The stores that several processes share, as tests start them."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Protocol


class Backend(Protocol):
    """A new store behind a URL."""

    url: str

    def bury(self, worker: str) -> None:
        """Let a process count as dead, at once and for good."""
        ...


class SqliteBackend:
    def __init__(self, directory: Path) -> None:
        self._path = directory / "state.db"
        self.url = f"sqlite:///{self._path}"

    def bury(self, worker: str) -> None:
        with closing(sqlite3.connect(self._path, isolation_level=None)) as connection:
            connection.execute("delete from workers where name = ?", (worker,))
            connection.execute(
                f"create trigger bury_{worker} before insert on workers when new.name = '{worker}'"
                " begin select raise(ignore); end"
            )
