"""Where two canonical traces part: the frame, the place in it, and what stands there in each."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from json import dumps, loads
from typing import Any, Final

from msgspec import Struct

from assay.lab.harness.links.http_text import CRLF, HEAD_END
from assay.lab.harness.trace.excerpt import excerpt
from assay.lab.harness.trace.frame import Frame, Kind, Sender

from .canonical import Canonical
from .json_place import is_json
from .lane import LEFT, asker_of, lane_of, said_in
from .normaliser import LEFT_EARLY, OPEN_STREAMS, RETURNS

WIDTH: Final = 160
"""Characters that are shown of a value."""
FIRST: Final = 2
"""Visits of a client to a stream that are compared whatever comes later."""
_STREAMED: Final = frozenset({Kind.HEAD, Kind.EVENT})


class FrameDifference(Struct, frozen=True):
    channel: str
    sender: str
    frame_before: int | None
    """Numbers of the frame in the two traces; none where there is no such frame."""
    frame_after: int | None
    at: str
    """A JSON Pointer, a header, a byte; or what the whole frame is: missing, or new."""
    before: str
    after: str

    def __str__(self) -> str:
        number = self.frame_before if self.frame_after is None else self.frame_after
        return f"frame #{number} ({self.sender} on {self.channel}), {self.at}"


Side = tuple[str, Sender, str]
"""A channel, a direction and a lane: within one, frames have an order."""
Numbered = tuple[Frame, int]
"""A frame, and the number that it has in its trace."""


def frame_differences(
    before: Canonical, after: Canonical, excused: Counter[str] | None = None
) -> Iterator[FrameDifference]:
    """The first difference of each lane, in the order of the earlier one. What is longer in one just because
    the driver hung up at another moment is none; `excused` counts these by rule."""
    olds, news = _sides(before), _sides(after)
    spare = _returns(before) ^ _returns(after)
    cut = {side[0].partition("/")[0] for side in (*olds, *news) if side[0].endswith(f"/{LEFT}")}
    for side in dict.fromkeys((*olds, *news)):
        old, new = olds.get(side, []), news.get(side, [])
        found = _first(side, old, new)
        if found is None or side[0].endswith(f"/{LEFT}"):
            continue
        excuse = _excuse(side, old, new, cut) if None in (found.frame_before, found.frame_after) else None
        excuse = RETURNS.name if side[0] in spare else excuse
        if excuse is None:
            yield found
        elif excused is not None:
            excused[excuse] += 1


def _sides(one: Canonical) -> dict[Side, list[Numbered]]:
    said = said_in(one.trace)
    steady = Sender.DRIVER if asker_of(one.trace) is Sender.DRIVER else None  # a client may do much at once
    sides: dict[Side, list[Numbered]] = defaultdict(list)
    for frame in one.trace.frames:
        side = frame.channel, frame.sender, lane_of(frame, said[frame.n], steady)
        sides[side].append((frame, one.origin[frame.n]))
    return sides


def _first(side: Side, olds: list[Numbered], news: list[Numbered]) -> FrameDifference | None:
    for place in range(max(len(olds), len(news))):
        old, new = olds[place : place + 1], news[place : place + 1]
        if not old or not new:
            return _whole(side, old, new)
        if not _same(old[0][0], new[0][0]):
            return _moved(side, olds[place:], news[place:])
    return None


def _returns(one: Canonical) -> set[str]:
    """Channels on which a client came back to listen, its first return aside."""
    if asker_of(one.trace) is Sender.DRIVER:
        return set()
    listening = [
        frame.channel
        for frame in one.trace.frames
        if frame.kind is Kind.REQUEST
        and frame.raw.startswith(b"GET ")
        and b"text/event-stream" in _head(frame).lower()
    ]
    return set(listening[FIRST:])


def _same(one: Frame, other: Frame) -> bool:
    return (one.kind, one.raw, one.info) == (other.kind, other.raw, other.info)


def _excuse(side: Side, olds: list[Numbered], news: list[Numbered], cut: set[str]) -> str | None:
    """The rule by which one may go on where the other ends; none where it may not, or they part before."""
    shorter, longer = sorted((olds, news), key=len)
    pairs = zip(shorter, longer, strict=False)
    if side[1] is Sender.DRIVER or not all(_same(one, other) for (one, _), (other, _) in pairs):
        return None
    if side[0].partition("/")[0] in cut:
        return LEFT_EARLY.name
    return OPEN_STREAMS.name if _is_open(shorter) else None


def _is_open(frames: list[Numbered]) -> bool:
    """Whether it is a stream that the driver left before it ended."""
    streams = bool(frames) and b"text/event-stream" in frames[0][0].raw.lower()
    return streams and frames[-1][0].kind in _STREAMED


def _moved(side: Side, olds: list[Numbered], news: list[Numbered]) -> FrameDifference:
    """A frame too many or too few shows as that, not as a difference of all that follow."""
    if len(news) > len(olds) and _same(olds[0][0], news[1][0]):
        return _whole(side, [], news[:1])
    if len(olds) > len(news) and _same(olds[1][0], news[0][0]):
        return _whole(side, olds[:1], [])
    (old, number), (new, other) = olds[0], news[0]
    return FrameDifference(side[0], side[1], number, other, *_place(old, new))


def _whole(side: Side, old: list[Numbered], new: list[Numbered]) -> FrameDifference:
    if old:
        (frame, number), *_ = old
        return FrameDifference(
            side[0], side[1], number, None, "the frame is missing", excerpt(frame), "nothing"
        )
    (frame, number), *_ = new
    return FrameDifference(side[0], side[1], None, number, "the frame is new", "nothing", excerpt(frame))


def _place(old: Frame, new: Frame) -> tuple[str, str, str]:
    """Where two frames part, and what stands there."""
    if old.kind is not new.kind:
        return "kind of frame", excerpt(old), excerpt(new)
    if old.info != new.info:
        return "what the recorder says of it", _shown(old.info), _shown(new.info)
    head, other_head = _head(old), _head(new)
    if head != other_head:
        return _header_place(head, other_head)
    return _text_place(_told(old), _told(new))


def _head(frame: Frame) -> bytes:
    return frame.raw.partition(HEAD_END)[0] if frame.kind in (Kind.HEAD, Kind.REQUEST) else b""


def _told(frame: Frame) -> bytes:
    """What is JSON in a frame if anything is."""
    if frame.kind is Kind.REQUEST:
        return frame.raw.partition(HEAD_END)[2]
    if frame.kind is not Kind.EVENT:
        return frame.raw
    lines = frame.raw.splitlines()
    return b"\n".join(line[5:].removeprefix(b" ") for line in lines if line.startswith(b"data:")) or frame.raw


def _header_place(old: bytes, new: bytes) -> tuple[str, str, str]:
    olds, news = old.split(CRLF), new.split(CRLF)
    if olds[0] != news[0]:
        return "first line", _cut(olds[0]), _cut(news[0])
    for line in (*olds, *news):
        if line not in olds or line not in news:
            name = line.partition(b":")[0]
            return f"header {_cut(name)}", _line(name, olds), _line(name, news)
    return "order of headers", _names(olds), _names(news)


def _line(name: bytes, lines: list[bytes]) -> str:
    return "; ".join(_cut(line) for line in lines if line.partition(b":")[0] == name) or "nothing"


def _names(lines: list[bytes]) -> str:
    return ", ".join(_cut(line.partition(b":")[0]) for line in lines[1:])


def _text_place(old: bytes, new: bytes) -> tuple[str, str, str]:
    before, after = old.decode("utf-8", "replace"), new.decode("utf-8", "replace")
    if is_json(before) and is_json(after):
        found = _value_place(loads(before), loads(after), "")
        if found is not None:
            at, one, other = found
            return at or "the whole message", _shown(one), _shown(other)
    pairs = enumerate(zip(old, new, strict=False))
    byte = next((n for n, (one, other) in pairs if one != other), min(len(old), len(new)))
    return f"byte {byte}", _around(old, byte), _around(new, byte)


NOTHING: Final = object()


def _value_place(old: Any, new: Any, pointer: str) -> tuple[str, Any, Any] | None:
    """The first place where two JSON values differ; none where only their spelling does."""
    if type(old) is not type(new):
        return pointer, old, new
    if isinstance(old, dict):
        inside = ((str(key), old.get(key, NOTHING), new.get(key, NOTHING)) for key in {**old, **new})
    elif isinstance(old, list):
        longest = range(max(len(old), len(new)))
        inside = ((str(n), _item(old, n), _item(new, n)) for n in longest)
    else:
        return None if old == new else (pointer, old, new)
    for key, one, other in inside:
        step = f"{pointer}/{key.replace('~', '~0').replace('/', '~1')}"
        found = _value_place(one, other, step)
        if found is not None:
            return found
    return None


def _item(items: list[Any], place: int) -> Any:
    return items[place] if place < len(items) else NOTHING


def _shown(value: Any) -> str:
    if value is NOTHING:
        return "nothing"
    text = dumps(value, ensure_ascii=False)
    return text if len(text) <= WIDTH else f"{text[:WIDTH]} … ({len(text)} characters)"


def _cut(line: bytes) -> str:
    return line[:WIDTH].decode("utf-8", "backslashreplace")


def _around(raw: bytes, at: int) -> str:
    begin = max(0, at - WIDTH // 4)
    return repr(raw[begin : at + WIDTH // 4])[1:]
