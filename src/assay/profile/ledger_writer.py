"""The thread that brings a segment to the disk: all lines of some milliseconds at once, and now and then a
signature over all lines so far."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

import msgspec

from assay.signing import canonical, dsse
from assay.signing.keys import SigningKey

from .ledger_entry import CHECKPOINT_TYPE, CHECKPOINTS, ENTRIES, Checkpoint, Settings
from .ledger_file import GrowingFile
from .merkle import Tree

AGAIN: Final = 0.5
"""Seconds between two attempts to write where one has failed."""

Sealed = tuple[bytes, str]
"""A line, and its hash."""


class Writer:
    def __init__(
        self, home: Path, key: SigningKey | None, settings: Settings, take: Callable[[], list[Sealed]]
    ) -> None:
        """`home` is the path of the segment without an ending; `take` gives the lines that have come since.

        Raises:
            OSError: its files cannot be made.
        """
        self.written = 0
        """Lines that are on the disk."""
        self.problem: str | None = None
        """Why the last attempt to write failed."""
        self._settings, self._take, self._key = settings, take, key
        self._entries = GrowingFile(home.with_name(home.name + ENTRIES), fsync=settings.fsync)
        self._checkpoints: GrowingFile | None = None
        if key is not None:
            place = home.with_name(home.name + CHECKPOINTS)
            self._checkpoints = GrowingFile(place, fsync=settings.fsync)
        self._tree = Tree()
        self._head = ""
        self._signed = 0
        self._unsigned_since = 0.0
        self._one_at_a_time = threading.Lock()
        self._wake = threading.Event()
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"ledger {home.name}", daemon=True)

    def start(self) -> None:
        """
        Raises:
            OSError: the first lines cannot be written.
        """
        self._write(last=True)
        self._thread.start()

    def wake(self) -> None:
        """Something has come."""
        if not self._wake.is_set():
            self._wake.set()

    def end(self) -> None:
        """Write what is left and sign it; `problem` says if that failed."""
        self._ending.set()
        self._wake.set()
        self._thread.join()
        for file in (self._entries, self._checkpoints):
            if file is not None:
                file.close()

    def _run(self) -> None:
        while not self._ending.is_set():
            self._wake.wait(self._patience())
            self._wake.clear()
            self._ending.wait(self._settings.flush_seconds)
            self.attempt()
        self.attempt(last=True)

    def _patience(self) -> float | None:
        """Seconds until there is something to do even if nothing comes."""
        if self.problem is not None:
            return AGAIN
        if self._key is None or self._signed == self._tree.size:
            return None
        return max(0.0, self._unsigned_since + self._settings.checkpoint_seconds - time.monotonic())

    def attempt(self, *, last: bool = False) -> None:
        """Write what has come; `problem` says if that failed."""
        with self._one_at_a_time:
            try:
                self._write(last=last)
            except OSError as error:
                self.problem = error.strerror or str(error)
            else:
                self.problem = None

    def _write(self, *, last: bool) -> None:
        came = self._take()
        if came and self._signed == self._tree.size:
            self._unsigned_since = time.monotonic()
        for _, hashed in came:
            self._tree.add(bytes.fromhex(hashed.removeprefix("sha256:")))
            self._head = hashed
        self._entries.write(b"".join(line for line, _ in came))
        self.written = self._tree.size
        if self._checkpoints is not None:
            self._checkpoints.write(self._checkpoint() if self._is_due(last) else b"")

    def _is_due(self, last: bool) -> bool:
        unsigned = self._tree.size - self._signed
        age = time.monotonic() - self._unsigned_since
        settings = self._settings
        return unsigned > 0 and (
            last or unsigned >= settings.checkpoint_entries or age >= settings.checkpoint_seconds
        )

    def _checkpoint(self) -> bytes:
        assert self._key is not None
        self._signed = self._tree.size
        claim = Checkpoint(self._head, f"sha256:{self._tree.root().hex()}", self._tree.size)
        return dsse.sign(canonical.encode(msgspec.to_builtins(claim)), self._key, CHECKPOINT_TYPE) + b"\n"
