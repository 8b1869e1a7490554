"""An append-only ledger of what a server did: chained by hashes, signed now and then.

Each process writes a segment of its own in the directory; none is ever written again. `append` chains in
memory and returns; a thread brings the lines to the disk every `flush` seconds. What a `kill -9` loses is at
most what came in that time: the loss window, which the first line of the segment states. Who did something is
kept as a hash under a key of the segment's own, in a file beside it: without that file, nobody can tell.
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
    Closed,
    Entry,
    Opened,
    Settings,
    sealed,
    segments,
)
from .ledger_writer import Sealed, Writer
from .port import LedgerFailed, Record, Written

if TYPE_CHECKING:
    from assay.signing.keys import SigningKey

REMEMBERED: Final = 1024
"""Names whose hashes are kept at hand."""


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
            key: signs the checkpoints; without one, nobody can tell who wrote the ledger.
            flush: seconds until lines are on the disk.
            checkpoint: lines after which a signature is due.
            settle: seconds after which one is due however few lines there are.
            fsync: also wait for the disk, so that not even a power failure loses more.
            backlog: lines that may wait for a disk that takes none; then calls are refused.

        Raises:
            LedgerFailed: nothing can be written there.
        """
        self._settings = Settings(flush, checkpoint, settle, fsync)
        self._backlog = backlog
        self._process = os.getpid()
        self._lock = threading.Lock()
        self._lines: list[Sealed] = []
        self._seq = 0
        self._prev = FIRST
        self._closed = False
        self._names_key = secrets.token_bytes(32)
        self._principals = _Hidden(self._names_key, "principal")
        self._sessions = _Hidden(self._names_key, "session")
        self.directory = Path(directory)
        self.name = _name()
        self._writer = self._open(key)
        atexit.register(self._leave)

    @property
    def path(self) -> Path:
        """Of the entries."""
        return self.directory / (self.name + ENTRIES)

    def _open(self, key: SigningKey | None) -> Writer:
        try:
            self.directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            _expect_room(self.directory)
            _create(self.directory / (self.name + NAMES_KEY), self._names_key)
            writer = Writer(self.directory / self.name, key, self._settings, self._taken)
            signer = key.public.id if key is not None else None
            self._chain(Opened("opened", self._prev, 0, self._settings, self.name, _now(), signer))
            writer.start()
        except OSError as error:
            problem = f"cannot write a ledger in {self.directory}: {error.strerror or error}"
            raise LedgerFailed(problem) from error
        return writer

    def ready(self) -> None:
        """Asked before anything is done: refuses as soon as lines do not get to the disk.

        Raises:
            LedgerFailed: it could not be written down.
        """
        self._expect_writing()
        if os.getpid() != self._process:
            raise LedgerFailed(f"the ledger {self.path} belongs to another process: open one in each")
        self._expect_open()

    def _expect_writing(self) -> None:
        if self._writer.problem is not None:
            raise LedgerFailed(f"the ledger {self.path} cannot be written: {self._writer.problem}")

    def _expect_open(self) -> None:
        if self._closed:
            raise LedgerFailed(f"the ledger {self.path} is closed")

    def append(self, record: Record) -> Written:
        """What was done is taken even if the disk takes nothing at the moment, as long as there is room.

        Raises:
            LedgerFailed: there is none, or the ledger is closed.
            ValueError: the record has no digests, or an event of the ledger's own.
        """
        event, target, payload, effects, tier, session, principal = record
        if len(payload) != len(FIRST) or len(effects) != len(FIRST) or event in RESERVED:
            raise ValueError(f"no record for a ledger: {record.event!r} with {payload!r} and {effects!r}")
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
            found = self._prev
        self._writer.wake()
        return Written(seq, found)

    def _chain(self, line: Opened | Entry | Closed) -> None:
        found = sealed(line)
        self._lines.append(found)
        self._prev = found[1]
        self._seq += 1

    def _taken(self) -> list[Sealed]:
        with self._lock:
            lines, self._lines = self._lines, []
        return lines

    def sync(self) -> None:
        """Do not wait for the thread: return when all that was taken is on the disk.

        Raises:
            LedgerFailed: it is not.
        """
        self._writer.attempt()
        self._expect_writing()

    def close(self) -> None:
        """Write all that was taken, sign it, and end. A second time, nothing happens.

        Raises:
            LedgerFailed: some of it could not be written.
        """
        if os.getpid() != self._process:
            return  # without a look at the lock, which a thread may have held when this process was forked
        with self._lock:
            if self._closed:
                return
            self._chain(Closed("closed", self._prev, self._seq, self.name, _now()))
            self._closed = True
        atexit.unregister(self._leave)
        self._writer.end()
        if self._writer.problem is not None:
            lost = self._seq - self._writer.written
            problem = f"{lost} lines of the ledger {self.path} were lost: {self._writer.problem}"
            raise LedgerFailed(problem)

    def _leave(self) -> None:
        """The process ends, and nobody has closed it."""
        with contextlib.suppress(LedgerFailed):
            self.close()


class _Hidden(dict[str, str]):
    """Names, and what stands for them; at most so many of them at a time."""

    def __init__(self, key: bytes, kind: str) -> None:
        super().__init__()
        self._key, self._kind = key, kind

    def __missing__(self, name: str) -> str:
        if len(self) >= REMEMBERED:
            self.clear()
        found = self[name] = hide(self._key, self._kind, name)
        return found


def hide(key: bytes, kind: str, name: str) -> str:
    """What stands for a name: whoever has the segment's key can tell whether it is a given one."""
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
    """Many entries come within one."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S")


def _expect_room(directory: Path) -> None:
    """
    Raises:
        OSError: so many segments are there that nobody will ever look through them.
    """
    if len(segments(directory)) >= MAX_SEGMENTS:
        raise OSError(f"it has {MAX_SEGMENTS} segments: move old ones elsewhere")


def _create(path: Path, content: bytes) -> None:
    """A file that only its owner may read, from its first byte on."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
