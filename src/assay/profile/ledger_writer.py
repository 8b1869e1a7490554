"""The thread that writes a segment to disk: the lines of some milliseconds at once, and signed
checkpoints."""

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
from .ledger_file import AppendOnlyFile
from .merkle import Tree

AGAIN: Final = 0.5
"""Seconds between attempts after a failed write."""

HashedLine = tuple[bytes, str]
"""A line, and its hash."""


class Writer:
    def __init__(
        self, home: Path, key: SigningKey | None, settings: Settings, take: Callable[[], list[HashedLine]]
    ) -> None:
        """`home` is the path of the segment without suffix; `take` returns the lines appended since the last
        call.

        Raises:
            OSError: The files cannot be created.
        """
        self.written = 0
        """Lines on disk."""
        self.problem: str | None = None
        """Why the last attempt to write failed."""
        self._settings, self._take, self._key = settings, take, key
        self._entries = AppendOnlyFile(home.with_name(home.name + ENTRIES), fsync=settings.fsync)
        self._checkpoints: AppendOnlyFile | None = None
        if key is not None:
            path = home.with_name(home.name + CHECKPOINTS)
            self._checkpoints = AppendOnlyFile(path, fsync=settings.fsync)
        self._tree = Tree()
        self._head = ""
        self._signed = 0
        self._unsigned_since = 0.0
        self._writing = threading.Lock()
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
        """Lines were appended."""
        if not self._wake.is_set():
            self._wake.set()

    def end(self) -> None:
        """Write and sign the remaining lines; `problem` is set if that failed."""
        self._ending.set()
        self._wake.set()
        self._thread.join()
        for file in (self._entries, self._checkpoints):
            if file is not None:
                file.close()

    def _run(self) -> None:
        while not self._ending.is_set():
            self._wake.wait(self._timeout())
            self._wake.clear()
            self._ending.wait(self._settings.flush_seconds)
            self.attempt()
        self.attempt(last=True)

    def _timeout(self) -> float | None:
        """Seconds until the next write or signature is due without new lines; `None`: none is."""
        if self.problem is not None:
            return AGAIN
        if self._key is None or self._signed == self._tree.size:
            return None
        return max(0.0, self._unsigned_since + self._settings.checkpoint_seconds - time.monotonic())

    def attempt(self, *, last: bool = False) -> None:
        """Write the appended lines; `problem` is set if that failed."""
        with self._writing:
            try:
                self._write(last=last)
            except OSError as error:
                self.problem = error.strerror or str(error)
            else:
                self.problem = None

    def _write(self, *, last: bool) -> None:
        lines = self._take()
        if lines and self._signed == self._tree.size:
            self._unsigned_since = time.monotonic()
        for _, line_hash in lines:
            self._tree.add(bytes.fromhex(line_hash.removeprefix("sha256:")))
            self._head = line_hash
        self._entries.write(b"".join(line for line, _ in lines))
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
