"""Trace files: a header line, then one frame per line, each chained to the previous line."""

from __future__ import annotations

import binascii
from pathlib import Path
from typing import Final

import msgspec

from assay.revisions.registry import BY_DATE

from .frame import FORMAT, Frame, Header, decode_frame, encode_frame, encode_header, first_link
from .regular_file import UnfitFile, read_regular
from .trace import Trace

MAX_BYTES: Final = 256 * 1024 * 1024
"""Far above the recorder's limit: a larger file was not written by the lab."""


class BadTrace(ValueError):
    """A file is not a trace, or was modified after it was written."""

    def __init__(self, place: str, problem: str) -> None:
        super().__init__(place, problem)
        self.place = place
        self.problem = problem

    def __str__(self) -> str:
        return f"{self.place}: {self.problem}"


def dump_trace(trace: Trace) -> bytes:
    lines = [encode_header(trace.header)]
    link = first_link(lines[0])
    for frame in trace.frames:
        line, link = encode_frame(frame, link)
        lines.append(line)
    return b"\n".join(lines) + b"\n"


def parse_trace(data: bytes, place: str = "trace") -> Trace:
    """
    Raises:
        BadTrace: a line cannot be read, or the chain is broken.
    """
    head, *lines = data.split(b"\n")
    header = _header(head, place)
    if lines and (not lines[-1] or _is_cut_off(lines[-1])):
        lines.pop()
    frames: list[Frame] = []
    link = first_link(head)
    for number, line in enumerate(lines, 2):
        frame, stored = _frame(line, f"{place}:{number}")
        _, link = encode_frame(frame, link)
        if stored != link:
            raise BadTrace(
                f"{place}:{number}", "the hash chain is broken: this line or the previous one was modified"
            )
        if frame.n != len(frames):
            raise BadTrace(f"{place}:{number}", f"frame {frame.n} instead of frame {len(frames)}")
        frames.append(frame)
    return Trace(header, frames)


def _is_cut_off(line: bytes) -> bool:
    """Whether a last line without its newline ends before its frame: its recorder was killed."""
    try:
        msgspec.json.decode(line)
    except msgspec.DecodeError:
        return True
    return False


def _header(line: bytes, place: str) -> Header:
    try:
        header = msgspec.json.decode(line, type=Header)
    except msgspec.DecodeError as error:
        raise BadTrace(f"{place}:1", f"not the header of a trace: {error}") from None
    if header.format != FORMAT:
        raise BadTrace(f"{place}:1", f"trace format {header.format}: this version reads format {FORMAT}")
    if header.revision not in BY_DATE:
        raise BadTrace(f"{place}:1", f"unknown revision: {header.revision}")
    return header


def _frame(line: bytes, place: str) -> tuple[Frame, str]:
    try:
        return decode_frame(line)
    except (msgspec.DecodeError, binascii.Error) as error:
        raise BadTrace(place, f"not a frame: {error}") from None


def read_trace(path: Path) -> Trace:
    """
    Raises:
        BadTrace: the file is not a trace, or was modified.
        OSError: the file cannot be read.
    """
    try:
        data = read_regular(path, MAX_BYTES)
    except UnfitFile as error:
        raise BadTrace(str(path), str(error)) from error
    return parse_trace(data, str(path))
