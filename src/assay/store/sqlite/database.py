"""One connection to the file: transactions, their errors, and the check of what the file is.

Statements run in the thread of the event loop: each takes microseconds, less than handing it to another
thread. Longer work does not: a transaction that has to wait for another process is tried again from
the loop, and the checkpoint, which waits for the disk, runs in a thread.
"""

from __future__ import annotations

import asyncio
import logging
import os
import sqlite3
import stat
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, TypeVar

from assay.model.error import StoreAway, StoreError
from assay.model.visible import visible_record

from .schema import APPLICATION, TABLES, VERSION

T = TypeVar("T")
logger = logging.getLogger("assay")
logger.addFilter(visible_record)

PATIENCE: Final = 2.0
"""Seconds to wait for a transaction of another process before a request is refused."""
START_PATIENCE: Final = 10.0
CHECKPOINT_BYTES: Final = 4 * 1024 * 1024
"""Size of the write-ahead log from which it is copied into the file."""
REPORT_INTERVAL: Final = 5.0
"""Seconds between two log lines about the same trouble."""
PLACE: Final = "name a file in a directory that exists and is writable"
FIXES: Final[dict[int, tuple[str, str]]] = {
    sqlite3.SQLITE_FULL: ("the disk is full", "free space on its disk"),
    sqlite3.SQLITE_READONLY: ("it cannot be written", "make file and directory writable for this user"),
    sqlite3.SQLITE_CANTOPEN: ("it cannot be opened", PLACE),
    sqlite3.SQLITE_PERM: ("access is denied", "make file and directory writable for this user"),
    sqlite3.SQLITE_NOTADB: ("it is not an SQLite file", "name another file"),
    sqlite3.SQLITE_CORRUPT: ("it is damaged", "restore a copy, or name another file"),
    sqlite3.SQLITE_IOERR: ("the disk failed", "check the disk and the space on it"),
    sqlite3.SQLITE_BUSY: ("another process has locked it", "end the process that holds it"),
    sqlite3.SQLITE_LOCKED: ("another process has locked it", "end the process that holds it"),
}
"""Cause and fix by primary error code."""
WAITING: Final = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED})


class Database:
    """The file of a store."""

    def __init__(self, path: Path, synchronous: str = "normal") -> None:
        self.path = path
        self._synchronous = synchronous
        self._connection: sqlite3.Connection | None = None
        self._reported = float("-inf")

    @property
    def is_open(self) -> bool:
        return self._connection is not None

    def open(self) -> None:
        """
        Raises:
            StoreError: the file cannot be used.
        """
        try:
            self._create_file()
            self._connection = self._connect()
        except sqlite3.Error as error:
            raise self._failure(error) from error
        except OSError as error:
            raise StoreError(f"store {self.path} cannot be opened: {error.strerror}", PLACE) from error

    def _create_file(self) -> None:
        # Created here and not by SQLite, so that other users cannot read it at any time. Its log and index
        # get the same permissions.
        try:
            os.close(os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        except FileExistsError:
            if not stat.S_ISREG(self.path.stat().st_mode):
                raise StoreError(f"store {self.path} is not a file", "name a file") from None

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(
            self.path, timeout=START_PATIENCE, isolation_level=None, check_same_thread=False
        )
        try:
            self._check_form(connection)
            self._check_permissions()
            execute = connection.execute
            execute("pragma journal_mode = wal")
            execute(f"pragma synchronous = {self._synchronous}")
            execute("pragma wal_autocheckpoint = 0")
            self._create_tables(connection)
            execute("pragma busy_timeout = 0")
        except BaseException:
            connection.close()
            raise
        return connection

    def _check_permissions(self) -> None:
        # Only once the file is known to be ours: the advice must not reach a file that the URL names by
        # mistake.
        if os.name == "posix" and self.path.stat().st_mode & 0o077:
            raise StoreError(f"store {self.path} is readable for other users", f"chmod 600 {self.path}")

    def _check_form(self, connection: sqlite3.Connection) -> None:
        """
        Raises:
            StoreError: the file is something else, or was written by a newer version.
        """
        (application,) = connection.execute("pragma application_id").fetchone()
        (version,) = connection.execute("pragma user_version").fetchone()
        (tables,) = connection.execute("select count(*) from sqlite_master").fetchone()
        if application == 0 and tables == 0:
            return
        if application != APPLICATION:
            raise StoreError(f"store {self.path} is an SQLite file of another program", "name another file")
        if version > VERSION:
            raise StoreError(
                f"store {self.path} has form {version}, and this version of Assay reads up to {VERSION}",
                "install the version that wrote it, or name another file",
            )

    def _create_tables(self, connection: sqlite3.Connection) -> None:
        connection.execute("begin immediate")
        try:
            (application,) = connection.execute("pragma application_id").fetchone()
            if application != APPLICATION:
                for statement in statements(TABLES):
                    connection.execute(statement)
                connection.execute(f"pragma application_id = {APPLICATION}")
                connection.execute(f"pragma user_version = {VERSION}")
            # Proves that the file can be written.
            connection.execute("update totals set sessions = sessions")
        except BaseException:
            connection.execute("rollback")
            raise
        connection.execute("commit")

    def close(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    def read(self, statement: str, values: tuple[Any, ...] = ()) -> list[Any]:
        """The rows of a query. Readers never wait for writers.

        Raises:
            StoreAway: the file cannot be read.
        """
        if self._connection is None:
            raise StoreAway
        try:
            return self._connection.execute(statement, values).fetchall()
        except sqlite3.Error as error:
            raise self._away(error) from error

    async def write(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Run a function in one transaction, and return its value.

        Raises:
            StoreAway: it could not be committed within the time.
        """
        deadline = 0.0
        pause = 0.0005
        while True:
            try:
                return self._transact(work)
            except sqlite3.Error as error:
                now = time.monotonic()
                deadline = deadline or now + PATIENCE
                if primary_code(error) not in WAITING or now > deadline:
                    raise self._away(error) from error
            await asyncio.sleep(pause)
            pause = min(pause * 2, 0.02)

    def _transact(self, work: Callable[[sqlite3.Connection], T]) -> T:
        connection = self._connection
        if connection is None:
            raise StoreAway
        connection.execute("begin immediate")
        try:
            value = work(connection)
            connection.execute("commit")
        except BaseException:
            if connection.in_transaction:
                connection.execute("rollback")
            raise
        return value

    def check(self) -> None:
        """
        Raises:
            StoreError: the file cannot be read or written.
        """
        try:
            self._transact(lambda connection: connection.execute("update totals set sessions = sessions"))
        except sqlite3.Error as error:
            if primary_code(error) not in WAITING:
                raise self._failure(error) from error
        except StoreAway:
            raise StoreError(f"store {self.path} is closed", "start the server") from None

    def _away(self, error: sqlite3.Error) -> StoreAway:
        now = time.monotonic()
        if now > self._reported + REPORT_INTERVAL:
            self._reported = now
            logger.error("%s", self._failure(error))
        return StoreAway()

    def _failure(self, error: sqlite3.Error) -> StoreError:
        cause, fix = FIXES.get(primary_code(error), (str(error), "name another file"))
        return StoreError(f"store {self.path} cannot be used: {cause}", fix)

    def checkpoint(self) -> None:
        """Copy the log into the file if it has grown. Waits for the disk: run it in a thread."""
        log = self.path.with_name(f"{self.path.name}-wal")
        try:
            if log.stat().st_size < CHECKPOINT_BYTES:
                return
            connection = sqlite3.connect(self.path, timeout=0, isolation_level=None)
        except (OSError, sqlite3.Error):
            return  # the next statement of a request reports the trouble
        try:
            connection.execute("pragma wal_checkpoint(passive)")
        except sqlite3.Error as error:
            logger.debug("checkpoint of %s: %s", self.path, error)
        finally:
            connection.close()


def statements(script: str) -> list[str]:
    """The statements of a script. `executescript` would commit before each."""
    complete, start = [], ""
    for part in script.split(";"):
        start = f"{start}{part};"
        if sqlite3.complete_statement(start):
            complete.append(start)
            start = ""
    return complete


def primary_code(error: sqlite3.Error) -> int:
    code: int = getattr(error, "sqlite_errorcode", 0)
    return code & 0xFF
