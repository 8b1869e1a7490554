"""Lines of a standard stream, recorded as they pass."""

from __future__ import annotations

from typing import Final

from assay.lab.harness.links.split import Lines
from assay.lab.harness.trace.frame import Kind, Sender

from .conversation import Conversation

LINES: Final = "1/lines"
ERRORS: Final = "1/errors"
LONGEST_ERROR: Final = 8 * 1024
"""Bytes of a line of standard error that are recorded, as elsewhere in the lab."""


class LineStream:
    """One direction. A line without an end costs no more memory than the largest message."""

    def __init__(
        self, conversation: Conversation, sender: Sender, largest: int, kind: Kind = Kind.LINE
    ) -> None:
        self._conversation = conversation
        self._sender = sender
        self._channel = LINES if kind is Kind.LINE else ERRORS
        self._kind = kind
        self._largest = largest
        self._lines = Lines()
        self._dropped = 0

    def feed(self, data: bytes) -> None:
        for line in self._lines.feed(data):
            self._take(line)
        if len(self._lines) > self._largest:
            self._dropped += len(self._lines)
            self._lines = Lines()
        self._conversation.flush()

    def _take(self, line: bytes) -> None:
        if self._dropped:
            size, self._dropped = self._dropped + len(line), 0
            self._conversation.gap(self._sender, self._channel, f"a line: it has {size} bytes")
        elif self._kind is Kind.LINE:
            self._conversation.record(self._sender, self._channel, Kind.LINE, line + b"\n")
        else:
            self._conversation.record(self._sender, self._channel, self._kind, line[:LONGEST_ERROR])

    def end(self) -> None:
        rest = self._lines.rest
        if self._dropped:
            self._take(rest)
        elif rest:
            self._conversation.record(self._sender, self._channel, self._kind, rest)
        if self._kind is Kind.LINE:
            self._conversation.record(self._sender, self._channel, Kind.END, clean=not rest)
        self._conversation.flush()
