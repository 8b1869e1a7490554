"""The directory of a tap: its conversations, and the room that their traces may take."""

from __future__ import annotations

import contextlib
import os
import time
from collections import deque
from itertools import count
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from assay.lab.error import CannotStore
from assay.lab.harness.run.recording import now
from assay.lab.harness.trace.frame import Header
from assay.lab.harness.trace.recorder import Redaction
from assay.model.version import VERSION
from assay.revisions.registry import HANDSHAKE

from .conversation import Conversation
from .options import TapOptions
from .redaction import LiveRedaction

FILE: Final = "tap.json"
FORMAT: Final = 1
MOST_OPEN: Final = 200
"""Conversations at once: each has an open file. Beyond, the one that is unused for the longest is over."""
MOST_TRACES: Final = 5000
"""Traces that are kept: a directory with more of them is hard to use, however small they are."""
IDLE: Final = 600.0
"""Seconds after which a conversation without connections is over, if it has a session."""
GONE: Final = 2.0
"""The same without a session: the next client would be taken for this one."""
NEWEST: Final = HANDSHAKE[-1].date


class TapRecord(Struct, frozen=True, omit_defaults=True):
    """`tap.json`."""

    format: int
    assay: str
    target: str
    started: str
    listen: str = ""


class Capture:
    def __init__(
        self, options: TapOptions, target: str, redaction: Redaction | None = None, *, listen: str = ""
    ) -> None:
        """
        Raises:
            InvalidOptions: the sizes do not fit each other.
            CannotStore: the directory cannot be created.
        """
        options.check()
        self.options = options
        self.redaction = redaction or LiveRedaction(options.secrets, options.redact_headers)
        self.target = self.redaction.string(target)
        self._live: dict[int, Conversation] = {}
        self._numbers = count(1)
        self._closed: deque[tuple[Path, int]] = deque()
        self._closed_bytes = 0
        self.failed = ""
        """Why something is not recorded."""
        self.removed = 0
        """Traces that were removed to make room."""
        self._recorded = 0
        started = now()
        record = TapRecord(FORMAT, VERSION, self.target, started, self.redaction.string(listen))
        self.directory = _new_directory(options.output, started, record)

    @property
    def frames(self) -> int:
        """Frames recorded so far."""
        return self._recorded + sum(each.frames for each in self._live.values())

    @property
    def conversations(self) -> list[Conversation]:
        return list(self._live.values())

    def begin(self, transport: str, revision: str = NEWEST) -> Conversation | None:
        """A new conversation; None if it cannot be recorded, which `failed` explains."""
        if len(self._live) >= MOST_OPEN:
            self.end(min(self._live.values(), key=lambda each: each.used))
        number = next(self._numbers)
        header = Header(revision, transport, self.target, "", now())
        limits = self.options.rotate, self.options.frame
        try:
            conversation = Conversation(self.directory, number, header, self.redaction, limits)
        except OSError as error:
            self.failed = f"{error.filename or self.directory}: {error.strerror}"
            return None
        self._live[number] = conversation
        return conversation

    def end(self, conversation: Conversation) -> None:
        conversation.end()
        if self._live.pop(conversation.number, None) is not None:
            self._recorded += conversation.frames
        self._collect(conversation)

    def tick(self) -> None:
        """End what is unused, and make room; call it about once a second."""
        moment = time.monotonic()
        for conversation in self.conversations:
            self._collect(conversation)
            limit = IDLE if conversation.has_session else GONE
            if not conversation.links and moment - conversation.used > limit:
                self.end(conversation)

    def close(self) -> None:
        for conversation in self.conversations:
            self.end(conversation)

    def _collect(self, conversation: Conversation) -> None:
        if conversation.failed:
            self.failed = conversation.failed
        for path in conversation.closed_files:
            with contextlib.suppress(OSError):
                size = path.stat().st_size
                self._closed.append((path, size))
                self._closed_bytes += size
        conversation.closed_files.clear()
        in_use = sum(each.size for each in self._live.values())
        while self._closed and self._is_over(self._closed_bytes + in_use):
            path, size = self._closed.popleft()
            with contextlib.suppress(OSError):
                path.unlink()
            self._closed_bytes -= size
            self.removed += 1

    def _is_over(self, size: int) -> bool:
        return size > self.options.keep or len(self._closed) > MOST_TRACES


def _new_directory(parent: Path, started: str, record: TapRecord) -> Path:
    """A directory that no other tap has: several may start at once."""
    stamp = started.replace(":", "-").replace(".", "-")
    data = msgspec.json.format(msgspec.json.encode(record), indent=1) + b"\n"
    for attempt in count(1):
        directory = parent / (f"tap-{stamp}" if attempt == 1 else f"tap-{stamp}-{attempt}")
        try:
            directory.mkdir(parents=True, mode=0o700)
            file = os.open(directory / FILE, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(file, "wb") as stream:
                stream.write(data)
        except FileExistsError:
            if not directory.is_dir():
                break
            continue
        except OSError as error:
            problem = f"cannot store traces in {parent}: {error.strerror}"
            raise CannotStore(problem, "name another directory with --output") from error
        return directory
    raise CannotStore(f"cannot store traces in {parent}: not a directory", "name another with --output")
