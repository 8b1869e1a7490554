"""Frames in short, for people: one line each, cut to what fits beside a finding."""

from __future__ import annotations

from collections.abc import Iterable

from .frame import Frame, Kind, Sender
from .trace import Trace

WIDTH = 400
MOST = 8
_ARROWS = {Sender.DRIVER: "→", Sender.SUBJECT: "←"}


def excerpts(trace: Trace, numbers: Iterable[int]) -> list[str]:
    chosen = list(numbers)[:MOST]
    return [excerpt(trace.frames[n]) for n in chosen if n < len(trace.frames)]


def excerpt(frame: Frame) -> str:
    arrow = _ARROWS[frame.sender]
    return f"{arrow} #{frame.n} {frame.channel} {frame.kind}: {_text(frame)}"


def _text(frame: Frame) -> str:
    if frame.kind in (Kind.MARK, Kind.EXIT, Kind.END, Kind.CONTROL) and frame.info:
        return " ".join(f"{key}={value}" for key, value in frame.info.items())
    text = frame.raw.decode("utf-8", "backslashreplace").strip()
    flat = text.replace("\r\n", " ⏎ ").replace("\n", " ⏎ ")
    return flat if len(flat) <= WIDTH else f"{flat[:WIDTH]} … ({len(frame.raw)} bytes)"
