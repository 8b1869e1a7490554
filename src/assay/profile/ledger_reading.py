"""Reading a ledger: every line is what was hashed, follows the one before, and is covered by a signature.

A last line that ends in its middle is what a killed process leaves behind, and is told as that, if nothing
signed covers it. Everything else that is not as it was written is refused, with the reason.
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
    Closed,
    Line,
    Opened,
    WrongHash,
    opened,
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


class Tampered(ValueError):
    """A segment is not as it was written; `reason` says in which way, for programs."""

    def __init__(self, reason: Reason, detail: str) -> None:
        super().__init__(reason, detail)
        self.reason = reason
        self.detail = detail

    def __str__(self) -> str:
        return self.detail


@dataclass(frozen=True)
class Verified:
    """What a segment that was refused for nothing has shown."""

    name: str
    lines: int
    signed: int
    """The first so many lines are covered by a signature."""
    key_id: str | None
    """Whose signature that is."""
    closed: bool
    """Whether its process ended in order. If not, lines at its end may be missing without a trace."""
    torn: int
    """Bytes of a last line that was not written to its end."""
    head: str

    @property
    def is_complete(self) -> bool:
        return self.closed and not self.torn and self.signed == self.lines


@dataclass(frozen=True)
class Read:
    """One line, and its hash."""

    line: Line
    hash: str


def _opened(path: Path) -> BinaryIO:
    """
    Raises:
        Tampered: this is a pipe or a device, which may never end.
        OSError: it cannot be read.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)  # a pipe does not keep us waiting
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise Tampered(Reason.MALFORMED, f"{path.name!r} is no plain file")
    return os.fdopen(descriptor, "rb")


class Walk:
    """The lines of a segment in order, each held against the one before. `torn` is known at the end."""

    def __init__(self, path: Path) -> None:
        self.name = path.name.removesuffix(ENTRIES)
        self.torn = 0
        self._path = path

    def __iter__(self) -> Iterator[Read]:
        """
        Raises:
            Tampered: a line is not what should be there.
            OSError: it cannot be read.
        """
        prev, number, closed = FIRST, 0, False
        for text in self._lines():
            if closed:
                raise Tampered(Reason.AFTER_THE_END, f"line {number}: after the end of the segment")
            read = _parse(text, number)
            self._fit(read.line, number, prev)
            yield read
            prev, closed = read.hash, isinstance(read.line, Closed)
            number += 1
        if number == 0:
            raise Tampered(Reason.NOT_OPENED, "it has no whole line")

    def _lines(self) -> Iterator[bytes]:
        with _opened(self._path) as file:
            # One byte more than a line may have: what is longer is refused, and not read to its end.
            while text := file.readline(MAX_LINE + 2):
                if text.endswith(b"\n"):
                    yield text[:-1]
                elif len(text) > MAX_LINE:
                    raise Tampered(Reason.MALFORMED, f"a line of more than {MAX_LINE} bytes")
                else:
                    self.torn = len(text)

    def _fit(self, line: Line, number: int, prev: str) -> None:
        if isinstance(line, Opened) != (number == 0):
            what = "not opened by its first line" if number == 0 else "opened once more"
            raise Tampered(Reason.NOT_OPENED, f"line {number}: {what}")
        if line.seq != number:
            raise Tampered(Reason.WRONG_NUMBER, f"line {number}: has the number {line.seq}")
        if line.prev != prev:
            detail = f"line {number}: follows {line.prev}, where {prev} is before it"
            raise Tampered(Reason.BROKEN_CHAIN, detail)
        if isinstance(line, Opened | Closed) and line.target != self.name:
            raise Tampered(Reason.RENAMED, f"line {number}: of the segment {line.target!r}")


def _parse(text: bytes, number: int) -> Read:
    try:
        return Read(*opened(text))
    except WrongHash as error:
        raise Tampered(Reason.WRONG_HASH, f"line {number}: {error}") from error
    except ValueError as error:
        raise Tampered(Reason.MALFORMED, f"line {number}: {error}") from error


def read(path: Path, trust: dsse.Trust) -> Verified:
    """Check a segment by the path of its entries; without a pinned key, signatures are left aside.

    Raises:
        Tampered: it is not as it was written, or signed by somebody else.
        OSError: it cannot be read.
    """
    walk = Walk(path)
    checkpoints = list(_checkpoints(path, trust)) if trust.keys else []
    tree, due = Tree(), iter(checkpoints)
    wanted = next(due, None)
    first: Line | None = None
    for one in walk:
        first = first or one.line
        tree.add(bytes.fromhex(one.hash.removeprefix("sha256:")))
        if wanted is not None and wanted.claim.size == tree.size:
            _agree(wanted, tree, one, first)
            wanted = next(due, None)
    if wanted is not None:
        detail = f"{wanted.claim.size} lines were signed, and {tree.size} are there"
        raise Tampered(Reason.ENTRIES_MISSING, detail)
    signed, signer = (checkpoints[-1].claim.size, checkpoints[-1].key_id) if checkpoints else (0, None)
    closed = isinstance(one.line, Closed)
    return Verified(walk.name, tree.size, signed, signer, closed, walk.torn, one.hash)


@dataclass(frozen=True)
class _Checked:
    """A checkpoint with a good signature."""

    claim: Checkpoint
    key_id: str


def _checkpoints(path: Path, trust: dsse.Trust) -> Iterator[_Checked]:
    """Those that were written to their end: a killed process may leave half of one."""
    place = path.with_name(path.name.removesuffix(ENTRIES) + CHECKPOINTS)
    size = 0
    for text in _whole_lines(place):
        checked = _checkpoint(text, trust)
        if checked.claim.size <= size:
            detail = f"a checkpoint over {checked.claim.size} lines comes after one over {size}"
            raise Tampered(Reason.CHECKPOINT_ORDER, detail)
        size = checked.claim.size
        yield checked


def _whole_lines(place: Path) -> Iterator[bytes]:
    if not place.exists():
        return
    with _opened(place) as file:
        while text := file.readline(MAX_LINE + 2):
            if text.endswith(b"\n"):
                yield text[:-1]
            elif len(text) > MAX_LINE:
                raise Tampered(Reason.BAD_CHECKPOINT, f"a checkpoint of more than {MAX_LINE} bytes")


def _checkpoint(text: bytes, trust: dsse.Trust) -> _Checked:
    try:
        signed = dsse.verify(text, trust, dsse.Role.DEVELOPER, CHECKPOINT_TYPE)
        claim = msgspec.convert(canonical.decode(signed.payload), Checkpoint)
    except (dsse.Refused, canonical.NotCanonical, msgspec.ValidationError) as error:
        raise Tampered(Reason.BAD_CHECKPOINT, f"a checkpoint: {error}") from error
    return _Checked(claim, signed.key_id)


def _agree(checked: _Checked, tree: Tree, last: Read, first: Line) -> None:
    claim: Final = checked.claim
    if claim.head != last.hash:
        detail = f"line {tree.size - 1} is {last.hash}, where {claim.head} was signed"
        raise Tampered(Reason.WRONG_HEAD, detail)
    root = f"sha256:{tree.root().hex()}"
    if claim.root_hash != root:
        raise Tampered(Reason.WRONG_ROOT, f"{tree.size} lines have the root {root}, not {claim.root_hash}")
    if not isinstance(first, Opened) or first.key_id != checked.key_id:
        detail = f"signed by {checked.key_id}, which is not the key that the segment was opened with"
        raise Tampered(Reason.OTHER_KEY, detail)
