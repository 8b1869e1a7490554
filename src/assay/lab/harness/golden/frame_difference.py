"""Differences between two canonical traces: the frame, the place in it, and both values."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from json import dumps, loads
from typing import Any, Final

from msgspec import Struct

from assay.lab.harness.links.http_text import CRLF, HEAD_END
from assay.lab.harness.trace.evidence import excerpt
from assay.lab.harness.trace.frame import Frame, Kind, Sender

from .canonical import Canonical
from .json_place import is_json
from .lane import LEFT, client_side, lane_of, messages_by_frame
from .normaliser import LEFT_EARLY, OPEN_STREAMS, RETURNS

WIDTH: Final = 160
"""The most characters of a value in a report."""
FIRST: Final = 2
"""How often a client may open its GET stream before later times are ignored."""
_STREAMED: Final = frozenset({Kind.HEAD, Kind.EVENT})


class FrameDifference(Struct, frozen=True):
    channel: str
    sender: str
    frame_before: int | None
    """The number of the frame in each trace; None if it has no such frame."""
    frame_after: int | None
    at: str
    """A JSON Pointer, a header, a byte, or a remark that the whole frame is missing or new."""
    before: str
    after: str

    def __str__(self) -> str:
        number = self.frame_before if self.frame_after is None else self.frame_after
        return f"frame #{number} ({self.sender} on {self.channel}), {self.at}"


Side = tuple[str, Sender, str]
"""A channel, a direction and a lane, within which frames have an order."""
Numbered = tuple[Frame, int]
"""A frame, and its number in the original trace."""


def frame_differences(
    before: Canonical, after: Canonical, excused: Counter[str] | None = None
) -> Iterator[FrameDifference]:
    """The first difference of each lane, in the order of `before`.

    Frames that a trace lacks only because the driver disconnected earlier are not reported; `excused` counts
    them by rule.
    """
    olds, news = _sides(before), _sides(after)
    later_returns = _later_returns(before) ^ _later_returns(after)
    cut = {side[0].partition("/")[0] for side in (*olds, *news) if side[0].endswith(f"/{LEFT}")}
    for side in dict.fromkeys((*olds, *news)):
        old, new = olds.get(side, []), news.get(side, [])
        difference = _first(side, old, new)
        if difference is None or side[0].endswith(f"/{LEFT}"):
            continue
        missing = None in (difference.frame_before, difference.frame_after)
        excuse = _excuse(side, old, new, cut) if missing else None
        excuse = RETURNS.name if side[0] in later_returns else excuse
        if excuse is None:
            yield difference
        elif excused is not None:
            excused[excuse] += 1


def _sides(canonical: Canonical) -> dict[Side, list[Numbered]]:
    messages = messages_by_frame(canonical.trace)
    # A client under test may send several requests at once, so neither side of its trace has one order.
    steady = Sender.DRIVER if client_side(canonical.trace) is Sender.DRIVER else None
    sides: dict[Side, list[Numbered]] = defaultdict(list)
    for frame in canonical.trace.frames:
        side = frame.channel, frame.sender, lane_of(frame, messages[frame.n], steady)
        sides[side].append((frame, canonical.origin[frame.n]))
    return sides


def _first(side: Side, olds: list[Numbered], news: list[Numbered]) -> FrameDifference | None:
    for place in range(max(len(olds), len(news))):
        old, new = olds[place : place + 1], news[place : place + 1]
        if not old or not new:
            return _whole(side, old, new)
        if not _same(old[0][0], new[0][0]):
            return _difference(side, olds[place:], news[place:])
    return None


def _later_returns(canonical: Canonical) -> set[str]:
    """Channels on which a client reopened its GET stream, except for the first time."""
    if client_side(canonical.trace) is Sender.DRIVER:
        return set()
    listening = [
        frame.channel
        for frame in canonical.trace.frames
        if frame.kind is Kind.REQUEST
        and frame.raw.startswith(b"GET ")
        and b"text/event-stream" in _head(frame).lower()
    ]
    return set(listening[FIRST:])


def _same(old: Frame, new: Frame) -> bool:
    return (old.kind, old.raw, old.info) == (new.kind, new.raw, new.info)


def _excuse(side: Side, olds: list[Numbered], news: list[Numbered], cut: set[str]) -> str | None:
    """The rule by which one lane may be longer than the other, if they are equal up to there."""
    shorter, longer = sorted((olds, news), key=len)
    pairs = zip(shorter, longer, strict=False)
    if side[1] is Sender.DRIVER or not all(_same(old, new) for (old, _), (new, _) in pairs):
        return None
    if side[0].partition("/")[0] in cut:
        return LEFT_EARLY.name
    return OPEN_STREAMS.name if _is_open(shorter) else None


def _is_open(frames: list[Numbered]) -> bool:
    """Whether the frames are an event stream that the driver closed before its end."""
    streams = bool(frames) and b"text/event-stream" in frames[0][0].raw.lower()
    return streams and frames[-1][0].kind in _STREAMED


def _difference(side: Side, olds: list[Numbered], news: list[Numbered]) -> FrameDifference:
    """Report an inserted or removed frame as such, not as a difference of the frames after it."""
    if len(news) > len(olds) and _same(olds[0][0], news[1][0]):
        return _whole(side, [], news[:1])
    if len(olds) > len(news) and _same(olds[1][0], news[0][0]):
        return _whole(side, olds[:1], [])
    (old, old_number), (new, new_number) = olds[0], news[0]
    return FrameDifference(side[0], side[1], old_number, new_number, *_place(old, new))


def _whole(side: Side, old: list[Numbered], new: list[Numbered]) -> FrameDifference:
    if old:
        (frame, number), *_ = old
        return FrameDifference(
            side[0], side[1], number, None, "the frame is missing", excerpt(frame), "nothing"
        )
    (frame, number), *_ = new
    return FrameDifference(side[0], side[1], None, number, "the frame is new", "nothing", excerpt(frame))


def _place(old: Frame, new: Frame) -> tuple[str, str, str]:
    """The first place where two frames differ, and the values there."""
    if old.kind is not new.kind:
        return "kind of frame", excerpt(old), excerpt(new)
    if old.info != new.info:
        return "metadata of the frame", _text(old.info), _text(new.info)
    if _head(old) != _head(new):
        return _header_place(_head(old), _head(new))
    return _payload_place(_payload(old), _payload(new))


def _head(frame: Frame) -> bytes:
    return frame.raw.partition(HEAD_END)[0] if frame.kind in (Kind.HEAD, Kind.REQUEST) else b""


def _payload(frame: Frame) -> bytes:
    """The part of a frame that may be JSON."""
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


def _payload_place(old: bytes, new: bytes) -> tuple[str, str, str]:
    before, after = old.decode("utf-8", "replace"), new.decode("utf-8", "replace")
    if is_json(before) and is_json(after):
        place = _value_place(loads(before), loads(after), "")
        if place is not None:
            pointer, old_value, new_value = place
            return pointer or "the whole message", _text(old_value), _text(new_value)
    pairs = enumerate(zip(old, new, strict=False))
    byte = next((n for n, (left, right) in pairs if left != right), min(len(old), len(new)))
    return f"byte {byte}", _around(old, byte), _around(new, byte)


NOTHING: Final = object()


def _value_place(old: Any, new: Any, pointer: str) -> tuple[str, Any, Any] | None:
    """The first place where two JSON values differ; None if only their formatting differs."""
    if type(old) is not type(new):
        return pointer, old, new
    if isinstance(old, dict):
        members = ((str(key), old.get(key, NOTHING), new.get(key, NOTHING)) for key in {**old, **new})
    elif isinstance(old, list):
        longest = range(max(len(old), len(new)))
        members = ((str(n), _item(old, n), _item(new, n)) for n in longest)
    else:
        return None if old == new else (pointer, old, new)
    for key, old_value, new_value in members:
        inner = f"{pointer}/{key.replace('~', '~0').replace('/', '~1')}"
        place = _value_place(old_value, new_value, inner)
        if place is not None:
            return place
    return None


def _item(items: list[Any], place: int) -> Any:
    return items[place] if place < len(items) else NOTHING


def _text(value: Any) -> str:
    if value is NOTHING:
        return "nothing"
    text = dumps(value, ensure_ascii=False)
    return text if len(text) <= WIDTH else f"{text[:WIDTH]} … ({len(text)} characters)"


def _cut(line: bytes) -> str:
    return line[:WIDTH].decode("utf-8", "backslashreplace")


def _around(raw: bytes, at: int) -> str:
    begin = max(0, at - WIDTH // 4)
    return repr(raw[begin : at + WIDTH // 4])[1:]
