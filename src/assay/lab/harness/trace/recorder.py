"""Keeps the frames of one scenario as they pass, within bounds, with credentials taken out."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import Any, Final

import msgspec

from assay.lab.harness.links.broken_off import BrokenOff

from .frame import Frame, Header, Kind, Sender
from .redaction import Redaction
from .trace import Trace

MAX_FRAMES: Final = 20_000
MAX_BYTES: Final = 64 * 1024 * 1024
"""Several times what the largest scenario exchanges with a server that keeps to 4 MiB a message."""
_WITH_HEAD: Final = frozenset({Kind.REQUEST, Kind.HEAD})


class Flooded(BrokenOff):
    """The subject sent more than a scenario may hold."""

    def __str__(self) -> str:
        return f"the subject flooded the driver: more than {MAX_FRAMES} frames or {MAX_BYTES} bytes"


class Recorder:
    def __init__(
        self,
        header: Header,
        redaction: Redaction | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.header = header
        self._redaction = redaction or Redaction()
        self._clock = clock
        self._begin = clock()
        self._frames: list[Frame] = []
        self._bytes = 0
        self.flooded = False
        self._expecting: Callable[[], None] | None = None

    def record(self, sender: Sender, channel: str, kind: Kind, raw: bytes = b"", **info: Any) -> Frame:
        """
        Raises:
            Flooded: the bounds are passed; the frame is not kept.
        """
        if len(self._frames) >= MAX_FRAMES or self._bytes + len(raw) > MAX_BYTES:
            self.flooded = True
            raise Flooded
        clean = self._redaction.head(raw) if kind in _WITH_HEAD else self._redaction.text(raw)
        moment = self._clock() - self._begin
        frame = Frame(len(self._frames), round(moment, 6), sender, channel, kind, clean, info)
        self._frames.append(frame)
        self._bytes += len(raw)
        if sender is Sender.SUBJECT and self._expecting is not None:
            heard, self._expecting = self._expecting, None
            heard()
        return frame

    def expect(self, heard: Callable[[], None]) -> None:
        """Call this when the subject is heard for the first time."""
        self._expecting = heard

    @property
    def begun(self) -> float:
        """When, by the clock."""
        return self._begin

    def recall(self, frames: Iterable[Frame], begun: float, name: str) -> None:
        """Put in front what was said in a recording that began earlier, under a new connection's name."""
        for frame in frames:
            moment = round(begun + frame.t - self._begin, 6)
            channel = f"{name}/{frame.channel.partition('/')[2]}"
            self._frames.append(
                msgspec.structs.replace(frame, n=len(self._frames), t=moment, channel=channel)
            )

    def mark(self, channel: str, label: str, **info: Any) -> Frame:
        return self.record(Sender.DRIVER, channel, Kind.MARK, label=label, **info)

    @property
    def exits(self) -> tuple[Frame, ...]:
        return tuple(one for one in self._frames if one.kind is Kind.EXIT)

    def trace(self, *, closed: bool) -> Trace:
        """What was recorded so far."""
        return Trace(msgspec.structs.replace(self.header, closed=closed), self._frames)
