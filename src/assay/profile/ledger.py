"""An append-only ledger of a server's actions, chained by hashes and signed at checkpoints.

Each process writes its own segment in the directory; a segment is never reopened. `append` extends the chain
in memory and returns; a thread writes the lines to disk every `flush` seconds. A `kill -9` loses at most the
lines of that time: the loss window, which the first line of the segment states. Principals and sessions are
stored as HMACs under a key in a separate file; without that file they cannot be identified.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import secrets
import threading
import time
from datetime import UTC, datetime
from functools import lru_cache
from hmac import digest as keyed
from pathlib import Path
from typing import TYPE_CHECKING, Final

from .digests import digest
from .ledger_entry import (
    ENTRIES,
    FIRST,
    MAX_SEGMENTS,
    MAX_WORD,
    NAMES_KEY,
    RESERVED,
    Entry,
    SegmentClosed,
    SegmentOpened,
    Settings,
    encode_line,
    segments,
)
from .ledger_writer import HashedLine, Writer
from .port import LedgerFailed, LedgerPosition, Record

if TYPE_CHECKING:
    from assay.signing.keys import SigningKey

REMEMBERED: Final = 1024
"""Hashes of names to cache."""


class Ledger:
    def __init__(
        self,
        directory: Path | str,
        key: SigningKey | None = None,
        *,
        flush: float = 0.05,
        checkpoint: int = 256,
        settle: float = 10.0,
        fsync: bool = False,
        backlog: int = 16_384,
    ) -> None:
        """
        Args:
            key: Signs the checkpoints; an unsigned ledger does not prove who wrote it.
            flush: Seconds until lines are written to disk.
            checkpoint: Lines after which a signature is due.
            settle: Seconds after which a signature is due for any number of lines.
            fsync: Also wait for the disk, so that a power failure loses no more than a crash.
            backlog: Lines that may wait while the disk accepts none; then calls are refused.

        Raises:
            LedgerFailed: The directory cannot be written to.
        """
        self._settings = Settings(flush, checkpoint, settle, fsync)
        self._backlog = backlog
        self._process = os.getpid()
        self._lock = threading.Lock()
        self._lines: list[HashedLine] = []
        self._seq = 0
        self._prev = FIRST
        self._closed = False
        self._names_key = secrets.token_bytes(32)
        self._principals = _KeyedHashes(self._names_key, "principal")
        self._sessions = _KeyedHashes(self._names_key, "session")
        self.directory = Path(directory)
        self.name = _name()
        self._writer = self._open(key)
        atexit.register(self._leave)

    @property
    def path(self) -> Path:
        """The file of the entries."""
        return self.directory / (self.name + ENTRIES)

    def _open(self, key: SigningKey | None) -> Writer:
        try:
            self.directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            _expect_room(self.directory)
            _create(self.directory / (self.name + NAMES_KEY), self._names_key)
            writer = Writer(self.directory / self.name, key, self._settings, self._taken)
            signer = key.public.id if key is not None else None
            self._chain(SegmentOpened("opened", self._prev, 0, self._settings, self.name, _now(), signer))
            writer.start()
        except OSError as error:
            problem = f"cannot write a ledger in {self.directory}: {error.strerror or error}"
            raise LedgerFailed(problem) from error
        return writer

    def ready(self) -> None:
        """Called before an action: refuses it if lines do not reach the disk.

        Raises:
            LedgerFailed: The action could not be recorded.
        """
        self._expect_writing()
        if os.getpid() != self._process:
            raise LedgerFailed(f"the ledger {self.path} belongs to another process: open one per process")
        self._expect_open()

    def _expect_writing(self) -> None:
        if self._writer.problem is not None:
            raise LedgerFailed(f"the ledger {self.path} cannot be written: {self._writer.problem}")

    def _expect_open(self) -> None:
        if self._closed:
            raise LedgerFailed(f"the ledger {self.path} is closed")

    def append(self, record: Record) -> LedgerPosition:
        """Record an action that has happened, even if the disk accepts nothing now, while the backlog has
        room.

        Raises:
            LedgerFailed: The backlog is full, or the ledger is closed.
            ValueError: The record has no digests, or a reserved event.
        """
        event, target, payload, effects, tier, session, principal = record
        if len(payload) != len(FIRST) or len(effects) != len(FIRST) or event in RESERVED:
            raise ValueError(f"not a ledger record: {record.event!r} with {payload!r} and {effects!r}")
        with self._lock:
            self._expect_open()
            seq = self._seq
            if seq - self._writer.written >= self._backlog:
                raise LedgerFailed(f"the ledger {self.path} is {self._backlog} lines behind its disk")
            entry = Entry(
                effects_hash=effects,
                event=event,
                payload_hash=payload,
                prev=self._prev,
                principal=self._principals[principal] if principal else None,
                retention_tier=tier,
                seq=seq,
                session=self._sessions[session] if session else None,
                target=target if len(target) <= MAX_WORD else digest(target.encode(errors="surrogatepass")),
                time=_now(),
            )
            self._chain(entry)
            entry_hash = self._prev
        self._writer.wake()
        return LedgerPosition(seq, entry_hash)

    def _chain(self, line: SegmentOpened | Entry | SegmentClosed) -> None:
        hashed = encode_line(line)
        self._lines.append(hashed)
        self._prev = hashed[1]
        self._seq += 1

    def _taken(self) -> list[HashedLine]:
        with self._lock:
            lines, self._lines = self._lines, []
        return lines

    def sync(self) -> None:
        """Write now instead of waiting for the thread; returns when all lines are on disk.

        Raises:
            LedgerFailed: They are not.
        """
        self._writer.attempt()
        self._expect_writing()

    def close(self) -> None:
        """Write and sign all lines, and end. Further calls do nothing.

        Raises:
            LedgerFailed: Some lines could not be written.
        """
        if os.getpid() != self._process:
            return  # without taking the lock, which a thread may have held when this process was forked
        with self._lock:
            if self._closed:
                return
            self._chain(SegmentClosed("closed", self._prev, self._seq, self.name, _now()))
            self._closed = True
        atexit.unregister(self._leave)
        self._writer.end()
        if self._writer.problem is not None:
            lost = self._seq - self._writer.written
            problem = f"{lost} lines of the ledger {self.path} were lost: {self._writer.problem}"
            raise LedgerFailed(problem)

    def _leave(self) -> None:
        """Close at exit, if the owner did not."""
        with contextlib.suppress(LedgerFailed):
            self.close()


class _KeyedHashes(dict[str, str]):
    """A bounded cache of keyed hashes by name."""

    def __init__(self, key: bytes, kind: str) -> None:
        super().__init__()
        self._key, self._kind = key, kind

    def __missing__(self, name: str) -> str:
        if len(self) >= REMEMBERED:
            self.clear()
        hashed = self[name] = keyed_hash(self._key, self._kind, name)
        return hashed


def keyed_hash(key: bytes, kind: str, name: str) -> str:
    """The HMAC stored in place of a name. A plain hash could be reversed by guessing names."""
    text = f"{kind}:{name}".encode(errors="surrogatepass")
    return f"hmac:{keyed(key, text, 'sha256').hex()}"


def _name() -> str:
    began = datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
    return f"{began}-{os.getpid()}-{secrets.token_hex(4)}"


def _now() -> str:
    seconds, milliseconds = divmod(time.time_ns() // 1_000_000, 1000)
    return f"{_second(seconds)}.{milliseconds:03}Z"


@lru_cache(maxsize=1)
def _second(seconds: int) -> str:
    """Cached, because many entries share a second."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S")


def _expect_room(directory: Path) -> None:
    """
    Raises:
        OSError: The directory holds so many segments that verification would refuse it.
    """
    if len(segments(directory)) >= MAX_SEGMENTS:
        raise OSError(f"it holds {MAX_SEGMENTS} segments: move old ones elsewhere")


def _create(path: Path, content: bytes) -> None:
    """Create a file that only its owner may read, from the first byte on."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
