"""One conversation on disk: each frame is in its file before its bytes are passed on."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any, Final

import msgspec

from assay.lab.harness.trace.frame import (
    Frame,
    Header,
    Kind,
    Sender,
    encode_frame,
    encode_header,
    first_link,
)
from assay.lab.harness.trace.recorder import Redaction

from .carried import Carried
from .view import ENDED, GAP, STATE, trace_name

REQUEST, HEAD = Kind.REQUEST, Kind.HEAD
_CLEAN: Final = {"clean": True}
MOST_FRAMES: Final = 8000
"""Of a trace. Some checks compare requests with equal ids, and a peer may send the same id for ever."""


class Conversation:
    def __init__(
        self, directory: Path, number: int, header: Header, redaction: Redaction, limits: tuple[int, int]
    ) -> None:
        """`limits` are the bytes of a trace and of a frame.

        Raises:
            OSError: the file cannot be created.
        """
        self.directory = directory
        self.number = number
        self.transport = header.transport
        self._header = header
        self._redaction = redaction
        self._rotate, self._largest = limits
        self._carried = Carried()
        self._part = 0
        self.channels = 0
        self.links = 0
        """Connections of the client that use it."""
        self.has_session = False
        self.has_messages = False
        self.used = time.monotonic()
        self.closed_files: list[Path] = []
        """Parts that are complete, until somebody takes them."""
        self.frames = 0
        self.failed = ""
        """Why nothing more is recorded."""
        self.is_over = False
        self._begun = self.used
        self._pending = bytearray()
        self._open()

    def _open(self) -> None:
        self._part += 1
        header = msgspec.structs.replace(self._header, scenario=trace_name(self.number, self._part))
        self.path = self.directory / f"{header.scenario}-{self.transport}.ndjson"
        self._file = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o600)
        line = encode_header(header)
        self._link = first_link(line)
        self._pending += line + b"\n"
        self._count = self._bytes = 0

    def record(self, sender: Sender, channel: str, kind: Kind, raw: bytes = b"", **info: Any) -> None:
        """Record a frame; `flush` writes it. Never raises: the traffic continues without its recording."""
        if self.failed or self.is_over:
            return
        self.used = time.monotonic()
        if len(raw) > self._largest:
            info = {**info, "label": GAP, "kind": str(kind), "bytes": len(raw)}
            kind, raw = Kind.MARK, b""
        elif raw:
            with_head = kind is REQUEST or kind is HEAD
            raw = self._redaction.head(raw) if with_head else self._redaction.text(raw)
        known = self._redaction.value(info) if info and info != _CLEAN else info
        moment = round(self.used - self._begun, 6)
        if self._count >= MOST_FRAMES or (self._count and self._bytes + len(raw) > self._rotate):
            self._rotated()
        frame = Frame(self._count, moment, sender, channel, kind, raw, known)
        self._append(frame)
        self._carried.take(frame)

    def gap(self, sender: Sender, channel: str, reason: str) -> None:
        """Note that something passed which is not in the trace."""
        self.record(sender, channel, Kind.MARK, label=GAP, reason=reason)

    def _append(self, frame: Frame) -> None:
        line, self._link = encode_frame(frame, self._link)
        self._pending += line + b"\n"
        self._count += 1
        self.frames += 1
        self._bytes += len(line)

    def _rotated(self) -> None:
        """Continue in a new file, which begins with the frames that it cannot be understood without."""
        self._append(_state(self._count, self.used - self._begun, continued=True))
        self.flush()
        carried = list(self._carried)
        self._close()
        try:
            self._open()
        except OSError as error:
            self._fail(error)
            return
        renumbered = {frame.n: msgspec.structs.replace(frame, n=n) for n, frame in enumerate(carried)}
        self._carried.renumbered(renumbered)
        for frame in renumbered.values():
            self._append(frame)

    def flush(self) -> None:
        """Write what was recorded."""
        if not self._pending or self.failed:
            return
        data = memoryview(self._pending)
        try:
            while data:
                data = data[os.write(self._file, data) :]
        except OSError as error:
            self._fail(error)
        data.release()
        self._pending = bytearray()

    def end(self) -> None:
        """The conversation is over; nothing more is recorded."""
        if self.is_over:
            return
        if not self.failed:
            self._append(_state(self._count, time.monotonic() - self._begun, continued=False))
            self.flush()
        self.is_over = True
        self._close()

    def _close(self) -> None:
        if self._file >= 0:
            os.close(self._file)
            self._file = -1
            self.closed_files.append(self.path)

    def _fail(self, error: OSError) -> None:
        self.failed = f"{self.path}: {error.strerror or error}"

    @property
    def size(self) -> int:
        """Bytes of the current part."""
        return self._bytes


def _state(n: int, t: float, *, continued: bool) -> Frame:
    info = {"label": ENDED, "continued": continued}
    return Frame(n, round(t, 6), Sender.DRIVER, STATE, Kind.MARK, b"", info)
