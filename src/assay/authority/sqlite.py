"""Records in an SQLite file, which outlive the process."""

from __future__ import annotations

import os
import sqlite3
import time
from pathlib import Path
from typing import Final

from .store import BOUND, Full, Now

TABLE: Final = """
CREATE TABLE IF NOT EXISTS records (
    kind TEXT NOT NULL, key TEXT NOT NULL, value BLOB NOT NULL, expires REAL NOT NULL,
    number INTEGER NOT NULL,
    PRIMARY KEY (kind, key)
) WITHOUT ROWID"""
PUT: Final = """
INSERT INTO records VALUES (?, ?, ?, ?, (SELECT coalesce(max(number), 0) + 1 FROM records WHERE kind = ?1))
ON CONFLICT (kind, key) DO UPDATE SET value = excluded.value, expires = excluded.expires"""
GET: Final = "SELECT value FROM records WHERE kind = ? AND key = ? AND expires > ?"
SWAP: Final = "UPDATE records SET value = ? WHERE kind = ? AND key = ? AND value = ? AND expires > ?"
ALL: Final = "SELECT key, value FROM records WHERE kind = ? AND expires > ? ORDER BY number"


def _make_private(path: str | Path) -> None:
    """Restrict the file to its owner, even if it exists.

    Raises:
        OSError: That is not possible, such as for another user's file.
    """
    opened = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        if os.fstat(opened).st_mode & 0o077:
            os.chmod(path, 0o600)
    finally:
        os.close(opened)


class SqliteStore:
    """The file holds signing keys, so only its owner may read it."""

    def __init__(self, path: str | Path, *, bound: int = BOUND, now: Now = time.time) -> None:
        self._bound = bound
        self._now = now
        _make_private(path)
        # One event loop uses it, possibly in another thread than the one that opened it.
        self._file = sqlite3.connect(path, check_same_thread=False, isolation_level=None, timeout=5.0)
        self._file.execute("PRAGMA journal_mode = WAL")
        self._file.execute(TABLE)

    def put(self, kind: str, key: str, value: bytes, expires: float) -> None:
        with self._file:
            self._file.execute("BEGIN IMMEDIATE")
            self._put(kind, key, value, expires)

    def add(self, kind: str, key: str, value: bytes, expires: float) -> bool:
        with self._file:
            self._file.execute("BEGIN IMMEDIATE")
            if self.get(kind, key) is not None:
                return False
            self._put(kind, key, value, expires)
            return True

    def _put(self, kind: str, key: str, value: bytes, expires: float) -> None:
        if self._count(kind) >= self._bound and self.get(kind, key) is None:
            self._file.execute("DELETE FROM records WHERE kind = ? AND expires <= ?", (kind, self._now()))
            if self._count(kind) >= self._bound:
                raise Full(kind)
        self._file.execute(PUT, (kind, key, value, expires))

    def _count(self, kind: str) -> int:
        (count,) = self._file.execute("SELECT count(*) FROM records WHERE kind = ?", (kind,)).fetchone()
        return int(count)

    def get(self, kind: str, key: str) -> bytes | None:
        row = self._file.execute(GET, (kind, key, self._now())).fetchone()
        return None if row is None else bytes(row[0])

    def swap(self, kind: str, key: str, old: bytes, new: bytes) -> bool:
        done = self._file.execute(SWAP, (new, kind, key, old, self._now()))
        return done.rowcount == 1

    def drop(self, kind: str, key: str) -> None:
        self._file.execute("DELETE FROM records WHERE kind = ? AND key = ?", (kind, key))

    def all(self, kind: str) -> list[tuple[str, bytes]]:
        rows = self._file.execute(ALL, (kind, self._now())).fetchall()
        return [(key, bytes(value)) for key, value in rows]

    def close(self) -> None:
        self._file.close()
