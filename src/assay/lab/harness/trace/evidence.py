"""What a report shows beside a finding: excerpts of its frames."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from assay.lab.harness.links.http_text import HEAD_END

from .frame import Frame, Kind, Sender
from .trace import Trace

WIDTH = 400
"""Characters of a message."""
AROUND = 160
"""Characters of what carried it."""
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
    """The JSON first, then what carried it: that is what a reader looks for, and long frames are cut."""
    if frame.kind in (Kind.MARK, Kind.EXIT, Kind.END, Kind.CONTROL) and frame.info:
        return " ".join(f"{key}={value}" for key, value in frame.info.items())
    body, around = _parts(frame)
    if not body or not around:
        return _flat(body or around, WIDTH)
    return f"{_flat(body, WIDTH)}  ({_flat(around, AROUND)})"


def _parts(frame: Frame) -> tuple[bytes, bytes]:
    """The message in a frame, and the rest of its bytes."""
    match frame.kind:
        case Kind.REQUEST:
            head, _, body = frame.raw.partition(HEAD_END)
            return body, head
        case Kind.EVENT:
            lines = frame.raw.strip().splitlines()
            data = [line for line in lines if line.startswith(b"data:")]
            texts = [line.removeprefix(b"data:").removeprefix(b" ") for line in data]
            return b"\n".join(texts), b"\n".join(line for line in lines if line not in data)
    return frame.raw, b""


def _flat(data: bytes, width: int) -> str:
    text = data.decode("utf-8", "backslashreplace").strip()
    flat = text.replace("\r\n", " ⏎ ").replace("\n", " ⏎ ")
    return flat if len(flat) <= width else f"{flat[:width]} … ({len(data)} bytes)"
