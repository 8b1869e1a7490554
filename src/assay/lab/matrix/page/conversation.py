"""The traffic of a pair for its page: a line for each frame, with the beginning of its bytes."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from msgspec import Struct

from assay.lab.harness.trace.file import BadTrace, read_trace
from assay.lab.harness.trace.frame import Frame, Kind, Sender
from assay.lab.harness.trace.trace import Trace
from assay.lab.matrix.pair import PairResult
from assay.lab.report.html.caption import Caption, captions

BUDGET: Final = 10 * 1024 * 1024
"""Characters of all conversations: a browser opens such a page at once."""
EXCERPT, CITED = 400, 4000
"""Characters of one frame, and of one that a fault cites."""
MOST: Final = 300
"""Frames of one conversation."""


class Line(Struct, frozen=True):
    n: int
    seconds: float
    arrow: str
    side: str
    text: str
    note: str
    raw: str
    more: int
    """Characters that are left out."""
    bad: bool
    cited: bool


class Conversation(Struct, frozen=True):
    lines: list[Line] = []
    left_out: int = 0
    """Frames that are not lines."""
    missing: str = ""
    size: int = 0


def conversation(result: PairResult, directory: Path, budget: int) -> Conversation:
    if not result.trace:
        return Conversation()
    try:
        trace = read_trace(directory / result.trace)
    except (BadTrace, OSError) as error:
        return Conversation(missing=f"the trace cannot be read: {error}")
    lines, left_out = _lines(trace, _cited(result))
    size = sum(len(line.raw) + len(line.text) + len(line.note) for line in lines)
    if size > budget:
        return Conversation(missing="left out to keep this page small; the trace has it")
    return Conversation(lines, left_out, size=size)


def _cited(result: PairResult) -> set[int]:
    failed = [step.frames for step in result.steps if step.detail]
    return {n for frames in (*failed, *(rule.frames for rule in result.rules)) for n in frames}


def _lines(trace: Trace, cited: set[int]) -> tuple[list[Line], int]:
    lines = [
        _line(frame, caption, frame.n in cited)
        for frame, caption in zip(trace.frames, captions(trace), strict=True)
        if frame.n in cited or not _is_dull(frame)
    ]
    return lines[:MOST], max(0, len(lines) - MOST)


def _is_dull(frame: Frame) -> bool:
    """A clean end, or a successful head."""
    if frame.kind is Kind.HEAD:
        return frame.raw[9:12] in (b"200", b"202")
    return frame.kind is Kind.END and frame.info.get("clean") is True


def _line(frame: Frame, caption: Caption, is_cited: bool) -> Line:
    text = frame.raw.decode("utf-8", "backslashreplace")
    room = CITED if is_cited else EXCERPT
    is_client = frame.sender is Sender.DRIVER
    return Line(
        frame.n,
        frame.t,
        "\N{RIGHTWARDS ARROW}" if is_client else "\N{LEFTWARDS ARROW}",
        "mark" if frame.kind is Kind.MARK else "client" if is_client else "server",
        caption.text,
        caption.note,
        text[:room],
        max(0, len(text) - room),
        caption.bad,
        is_cited,
    )
