"""Short excerpts of frames, one line each, to print beside a finding."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from .frame import Frame, Kind, Sender
from .trace import Trace

WIDTH = 400
MOST = 8
_ARROWS = {Sender.DRIVER: "→", Sender.SUBJECT: "←"}


def excerpts(trace: Trace, numbers: Iterable[int]) -> list[str]:
    frames = [trace.frames[n] for n in numbers if n < len(trace.frames)]
    return [excerpt(frame) for frame in _selection(frames)]


def _selection(frames: Sequence[Frame]) -> Sequence[Frame]:
    """The first frames; if there are too many, lines on standard error are left out."""
    if len(frames) > MOST:
        frames = [frame for frame in frames if frame.kind is not Kind.ERRORS] or frames
    return frames[:MOST]


def excerpt(frame: Frame) -> str:
    arrow = _ARROWS[frame.sender]
    return f"{arrow} #{frame.n} {frame.channel} {frame.kind}: {_text(frame)}"


def _text(frame: Frame) -> str:
    if frame.kind in (Kind.MARK, Kind.EXIT, Kind.END, Kind.CONTROL) and frame.info:
        return " ".join(f"{key}={value}" for key, value in frame.info.items())
    text = frame.raw.decode("utf-8", "backslashreplace").strip()
    flat = text.replace("\r\n", " ⏎ ").replace("\n", " ⏎ ")
    return flat if len(flat) <= WIDTH else f"{flat[:WIDTH]} … ({len(frame.raw)} bytes)"
