"""The frames that a trace needs to be understood without what came before: those a continuation begins with.

These are the exchanges that set up a conversation (its opening, lists, subscriptions, levels) and the
requests that wait for an answer. Calls that are over are not needed, and they are most of the traffic.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import msgspec
from msgspec import Struct

from assay.lab.harness.links.http_text import HEAD_END
from assay.lab.harness.trace.frame import Frame, Kind, Sender

LINE, TEXT, MARK, ERRORS = Kind.LINE, Kind.TEXT, Kind.MARK, Kind.ERRORS
REQUEST, END = Kind.REQUEST, Kind.END
MOST: Final = 400
MOST_BYTES: Final = 4 * 1024 * 1024
MOST_OPEN: Final = 1000
OPEN_FRAMES: Final = 6
"""Of one HTTP exchange: its request, head, and first events."""
LARGEST: Final = 256 * 1024
"""Bytes of a message that is worth carrying."""
BULK: Final = frozenset({"tools/call", "resources/read", "prompts/get", "completion/complete", "ping"})


_BULK_HEADERS: Final = tuple(f"\r\nMcp-Method: {method}\r\n".encode() for method in BULK)


class _Envelope(Struct):
    id: msgspec.Raw = msgspec.Raw(b"")
    method: str = ""


_decode: Final = msgspec.json.Decoder(_Envelope).decode


def envelope(body: bytes) -> tuple[bytes, str]:
    """Id and method of a message, as far as it has them."""
    try:
        value = _decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return b"", ""
    return bytes(value.id), value.method


class Carried:
    def __init__(self) -> None:
        self._setup: list[Frame] = []
        self._size = 0
        self._open: dict[tuple[str, Sender | None, bytes], list[Frame]] = {}

    def __iter__(self) -> Iterator[Frame]:
        frames = {frame.n: frame for frame in self._setup}
        frames |= {frame.n: frame for group in self._open.values() for frame in group}
        return (frames[n] for n in sorted(frames))

    def renumbered(self, frames: dict[int, Frame]) -> None:
        """Hold the frames of the continuation in place of those of the trace before."""
        self._setup = [frames[frame.n] for frame in self._setup]
        self._open = {key: [frames[frame.n] for frame in group] for key, group in self._open.items()}

    def take(self, frame: Frame) -> None:
        kind = frame.kind
        if kind is LINE or kind is TEXT:
            self._take_message(frame)
        elif kind is not MARK and kind is not ERRORS:
            self._take_http(frame)

    def _take_message(self, frame: Frame) -> None:
        if len(frame.raw) > LARGEST:
            return
        number, method = envelope(frame.raw)
        if method and number:
            self._begin((frame.channel, frame.sender, number), frame)
        elif method:
            self._keep([frame])
        elif number:
            other = Sender.DRIVER if frame.sender is Sender.SUBJECT else Sender.SUBJECT
            request = self._open.pop((frame.channel, other, number), None)
            if request is not None and envelope(request[0].raw)[1] not in BULK:
                self._keep([*request, frame])

    def _take_http(self, frame: Frame) -> None:
        key = (frame.channel, None, b"")
        if frame.kind is REQUEST:
            self._begin(key, frame)
            return
        group = self._open.get(key)
        if group is None:
            return
        is_end = frame.kind is END
        if len(group) < OPEN_FRAMES or is_end:
            group.append(frame)
        if is_end:
            del self._open[key]
            if not _is_bulk(group[0].raw):
                self._keep(group)

    def _begin(self, key: tuple[str, Sender | None, bytes], frame: Frame) -> None:
        if len(self._open) < MOST_OPEN and len(frame.raw) <= LARGEST:
            self._open[key] = [frame]

    def _keep(self, frames: list[Frame]) -> None:
        """The first are kept in any case: they are the opening."""
        size = sum(len(frame.raw) for frame in frames)
        if len(self._setup) + len(frames) <= MOST and self._size + size <= MOST_BYTES:
            self._setup += frames
            self._size += size


def _is_bulk(request: bytes) -> bool:
    """Whether an HTTP request is a call. Its header says so in newer revisions, and is quicker to read."""
    head, _, body = request.partition(HEAD_END)
    if any(name in head for name in _BULK_HEADERS):
        return True
    return envelope(body)[1] in BULK
