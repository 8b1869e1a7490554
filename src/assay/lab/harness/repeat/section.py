"""A section of a trace: the frames that a line repeats, as a trace of their own."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgspec.structs import replace

from assay.lab.harness.trace.frame import Frame, Kind
from assay.lab.harness.trace.trace import Trace


def section(trace: Trace, frames: Iterable[Frame]) -> Trace:
    """These frames, and the marks on their connections, numbered anew."""
    chosen = {frame.n for frame in frames}
    connections = {trace.frames[n].connection for n in chosen}
    kept = [
        frame
        for frame in trace.frames
        if frame.n in chosen or (frame.kind is Kind.MARK and frame.connection in connections)
    ]
    return renumbered(trace, kept)


def renumbered(trace: Trace, frames: Iterable[Frame]) -> Trace:
    """The frames as a complete trace. Marks that refer to others by number follow them."""
    kept = list(frames)
    numbers = {frame.n: place for place, frame in enumerate(kept)}
    renamed = [
        replace(frame, n=place, info=_referring(frame, numbers)) if frame.kind is Kind.MARK else frame
        for place, frame in enumerate(kept)
    ]
    placed = [replace(frame, n=place) for place, frame in enumerate(renamed)]
    return Trace(replace(trace.header, closed=True), placed)


def _referring(frame: Frame, numbers: dict[int, int]) -> dict[str, Any]:
    begin = frame.info.get("begin")
    if not isinstance(begin, int):
        return frame.info
    return {**frame.info, "begin": numbers.get(begin, -1)}
