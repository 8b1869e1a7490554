"""Verify a ledger: every line matches its hash, follows the previous one, and is covered by a signature.

A killed process may leave an incomplete last line, which is reported as such unless a signature covers it.
Any
other deviation is refused, with its reason.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import BinaryIO, Final

import msgspec

from assay.signing import canonical, dsse

from .ledger_entry import (
    CHECKPOINT_TYPE,
    CHECKPOINTS,
    ENTRIES,
    FIRST,
    MAX_LINE,
    Checkpoint,
    Line,
    SegmentClosed,
    SegmentOpened,
    WrongHash,
    decode_line,
)
from .merkle import Tree


class Reason(StrEnum):
    """Why a segment is refused."""

    MALFORMED = "malformed"
    WRONG_HASH = "wrong-hash"
    BROKEN_CHAIN = "broken-chain"
    WRONG_NUMBER = "wrong-number"
    NOT_OPENED = "not-opened"
    RENAMED = "renamed"
    AFTER_THE_END = "after-the-end"
    ENTRIES_MISSING = "entries-missing"
    BAD_CHECKPOINT = "bad-checkpoint"
    CHECKPOINT_ORDER = "checkpoint-order"
    WRONG_ROOT = "wrong-root"
    WRONG_HEAD = "wrong-head"
    OTHER_KEY = "other-key"


class InvalidSegment(ValueError):
    """A segment was changed after it was written; `reason` is for programs."""

    def __init__(self, reason: Reason, detail: str) -> None:
        super().__init__(reason, detail)
        self.reason = reason
        self.detail = detail

    def __str__(self) -> str:
        return self.detail


@dataclass(frozen=True)
class VerifiedSegment:
    """The result of a successful verification."""

    name: str
    lines: int
    signed: int
    """How many of the first lines a signature covers."""
    key_id: str | None
    """The key of that signature."""
    closed: bool
    """Whether the process ended normally. If not, lines may be missing at the end without a trace."""
    torn: int
    """Bytes of an incomplete last line."""
    head: str

    @property
    def is_complete(self) -> bool:
        return self.closed and not self.torn and self.signed == self.lines


@dataclass(frozen=True)
class VerifiedLine:
    """A line whose hash was verified."""

    line: Line
    hash: str


def _open(path: Path) -> BinaryIO:
    """
    Raises:
        InvalidSegment: The path is not a regular file; a pipe or device might never end.
        OSError: The file cannot be read.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)  # opening a pipe must not block
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise InvalidSegment(Reason.MALFORMED, f"{path.name!r} is not a regular file")
    return os.fdopen(descriptor, "rb")


class SegmentReader:
    """Iterates over the lines of a segment and verifies the chain. `torn` is set at the end."""

    def __init__(self, path: Path) -> None:
        self.name = path.name.removesuffix(ENTRIES)
        self.torn = 0
        self._path = path

    def __iter__(self) -> Iterator[VerifiedLine]:
        """
        Raises:
            InvalidSegment: A line is not the expected one.
            OSError: The file cannot be read.
        """
        prev, number, closed = FIRST, 0, False
        for text in self._lines():
            if closed:
                raise InvalidSegment(Reason.AFTER_THE_END, f"line {number}: after the end of the segment")
            read = _parse(text, number)
            self._check(read.line, number, prev)
            yield read
            prev, closed = read.hash, isinstance(read.line, SegmentClosed)
            number += 1
        if number == 0:
            raise InvalidSegment(Reason.NOT_OPENED, "the segment has no complete line")

    def _lines(self) -> Iterator[bytes]:
        with _open(self._path) as file:
            # One byte more than the longest line: a longer one is refused without reading it to its end.
            while text := file.readline(MAX_LINE + 2):
                if text.endswith(b"\n"):
                    yield text[:-1]
                elif len(text) > MAX_LINE:
                    raise InvalidSegment(Reason.MALFORMED, f"a line has more than {MAX_LINE} bytes")
                else:
                    self.torn = len(text)

    def _check(self, line: Line, number: int, prev: str) -> None:
        if isinstance(line, SegmentOpened) != (number == 0):
            problem = "the first line does not open the segment" if number == 0 else "opens the segment again"
            raise InvalidSegment(Reason.NOT_OPENED, f"line {number}: {problem}")
        if line.seq != number:
            raise InvalidSegment(Reason.WRONG_NUMBER, f"line {number}: its number is {line.seq}")
        if line.prev != prev:
            detail = f"line {number}: follows {line.prev}, but the previous line is {prev}"
            raise InvalidSegment(Reason.BROKEN_CHAIN, detail)
        if isinstance(line, SegmentOpened | SegmentClosed) and line.target != self.name:
            raise InvalidSegment(Reason.RENAMED, f"line {number}: belongs to the segment {line.target!r}")


def _parse(text: bytes, number: int) -> VerifiedLine:
    try:
        return VerifiedLine(*decode_line(text))
    except WrongHash as error:
        raise InvalidSegment(Reason.WRONG_HASH, f"line {number}: {error}") from error
    except ValueError as error:
        raise InvalidSegment(Reason.MALFORMED, f"line {number}: {error}") from error


def verify_segment(path: Path, trust: dsse.Trust) -> VerifiedSegment:
    """Verify a segment, given the file of its entries; without trusted keys, signatures are not checked.

    Raises:
        InvalidSegment: The segment was changed, or signed by another key.
        OSError: The segment cannot be read.
    """
    reader = SegmentReader(path)
    checkpoints = list(_checkpoints(path, trust)) if trust.keys else []
    tree, due = Tree(), iter(checkpoints)
    checkpoint = next(due, None)
    first: Line | None = None
    for entry in reader:
        first = first or entry.line
        tree.add(bytes.fromhex(entry.hash.removeprefix("sha256:")))
        if checkpoint is not None and checkpoint.claim.size == tree.size:
            _check_claim(checkpoint, tree, entry, first)
            checkpoint = next(due, None)
    if checkpoint is not None:
        detail = f"{checkpoint.claim.size} lines were signed, but {tree.size} are present"
        raise InvalidSegment(Reason.ENTRIES_MISSING, detail)
    signed, signer = (checkpoints[-1].claim.size, checkpoints[-1].key_id) if checkpoints else (0, None)
    closed = isinstance(entry.line, SegmentClosed)
    return VerifiedSegment(reader.name, tree.size, signed, signer, closed, reader.torn, entry.hash)


@dataclass(frozen=True)
class VerifiedCheckpoint:
    """A checkpoint whose signature is valid."""

    claim: Checkpoint
    key_id: str


def _checkpoints(path: Path, trust: dsse.Trust) -> Iterator[VerifiedCheckpoint]:
    """The complete checkpoints: a killed process may leave part of one."""
    checkpoints = path.with_name(path.name.removesuffix(ENTRIES) + CHECKPOINTS)
    size = 0
    for text in _whole_lines(checkpoints):
        checked = _checkpoint(text, trust)
        if checked.claim.size <= size:
            detail = f"a checkpoint over {checked.claim.size} lines follows one over {size}"
            raise InvalidSegment(Reason.CHECKPOINT_ORDER, detail)
        size = checked.claim.size
        yield checked


def _whole_lines(path: Path) -> Iterator[bytes]:
    if not path.exists():
        return
    with _open(path) as file:
        while text := file.readline(MAX_LINE + 2):
            if text.endswith(b"\n"):
                yield text[:-1]
            elif len(text) > MAX_LINE:
                raise InvalidSegment(Reason.BAD_CHECKPOINT, f"a checkpoint has more than {MAX_LINE} bytes")


def _checkpoint(text: bytes, trust: dsse.Trust) -> VerifiedCheckpoint:
    try:
        signed = dsse.verify(text, trust, dsse.Role.DEVELOPER, CHECKPOINT_TYPE)
        claim = msgspec.convert(canonical.decode(signed.payload), Checkpoint)
    except (dsse.InvalidEnvelope, canonical.NotCanonical, msgspec.ValidationError) as error:
        raise InvalidSegment(Reason.BAD_CHECKPOINT, f"a checkpoint: {error}") from error
    return VerifiedCheckpoint(claim, signed.key_id)


def _check_claim(checked: VerifiedCheckpoint, tree: Tree, last: VerifiedLine, first: Line) -> None:
    claim: Final = checked.claim
    if claim.head != last.hash:
        detail = f"line {tree.size - 1} is {last.hash}, but {claim.head} was signed"
        raise InvalidSegment(Reason.WRONG_HEAD, detail)
    root = f"sha256:{tree.root().hex()}"
    if claim.root_hash != root:
        detail = f"the root of {tree.size} lines is {root}, not {claim.root_hash}"
        raise InvalidSegment(Reason.WRONG_ROOT, detail)
    # Another trusted key must not vouch for this segment: its first line, which the chain protects, names the
    # key.
    if not isinstance(first, SegmentOpened) or first.key_id != checked.key_id:
        detail = f"signed with {checked.key_id}, but the segment was opened with another key"
        raise InvalidSegment(Reason.OTHER_KEY, detail)
