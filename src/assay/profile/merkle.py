"""Merkle trees as in RFC 6962: one hash stands for a whole list, and short proofs for what is in it.

A leaf is hashed behind a byte 0 and a node behind a byte 1, so that neither can be taken for the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from typing import Final

EMPTY: Final = sha256(b"").digest()


def leaf(data: bytes) -> bytes:
    return sha256(b"\0" + data).digest()


def node(left: bytes, right: bytes) -> bytes:
    return sha256(b"\1" + left + right).digest()


class Tree:
    """A tree that grows by one leaf at a time and keeps a hash for each power of two only."""

    def __init__(self) -> None:
        self.size = 0
        self._peaks: list[bytes] = []
        """The roots of the full subtrees that the leaves make up, the largest first."""

    def add(self, data: bytes) -> None:
        top = leaf(data)
        carry = self.size
        while carry & 1:
            top = node(self._peaks.pop(), top)
            carry >>= 1
        self._peaks.append(top)
        self.size += 1

    def root(self) -> bytes:
        if not self._peaks:
            return EMPTY
        found = self._peaks[-1]
        for peak in reversed(self._peaks[:-1]):
            found = node(peak, found)
        return found


def root(leaves: Sequence[bytes]) -> bytes:
    """Of leaves that are hashed already."""
    if not leaves:
        return EMPTY
    if len(leaves) == 1:
        return leaves[0]
    middle = _split(len(leaves))
    return node(root(leaves[:middle]), root(leaves[middle:]))


def _split(size: int) -> int:
    """The largest power of two below it."""
    return 1 << (size - 1).bit_length() - 1


def inclusion(leaves: Sequence[bytes], index: int) -> list[bytes]:
    """What shows that a leaf is in the tree: the siblings on the way from it to the root."""
    if not 0 <= index < len(leaves):
        raise IndexError(f"no leaf {index} among {len(leaves)}")
    if len(leaves) == 1:
        return []
    middle = _split(len(leaves))
    if index < middle:
        return [*inclusion(leaves[:middle], index), root(leaves[middle:])]
    return [*inclusion(leaves[middle:], index - middle), root(leaves[:middle])]


def is_included(one: bytes, index: int, size: int, proof: Sequence[bytes], expected: bytes) -> bool:
    """Whether the proof leads from that leaf, at that place of so many, to that root."""
    if not 0 <= index < size:
        return False
    found, last = one, size - 1
    for sibling in proof:
        if last == 0:
            return False
        if index & 1 or index == last:
            found = node(sibling, found)
            while not index & 1 and index:
                index, last = index >> 1, last >> 1
        else:
            found = node(found, sibling)
        index, last = index >> 1, last >> 1
    return last == 0 and found == expected


def consistency(leaves: Sequence[bytes], old: int) -> list[bytes]:
    """What shows that the tree of the first `old` leaves has only been added to."""
    if not 0 < old <= len(leaves):
        raise IndexError(f"no tree of {old} leaves in one of {len(leaves)}")
    return _steps(leaves, old, whole=True)


def _steps(leaves: Sequence[bytes], old: int, *, whole: bool) -> list[bytes]:
    """`whole`: the verifier has the root of these leaves already, as that of the old tree."""
    if old == len(leaves):
        return [] if whole else [root(leaves)]
    middle = _split(len(leaves))
    if old <= middle:
        return [*_steps(leaves[:middle], old, whole=whole), root(leaves[middle:])]
    return [*_steps(leaves[middle:], old - middle, whole=False), root(leaves[:middle])]


def is_consistent(old: int, new: int, before: bytes, after: bytes, proof: Sequence[bytes]) -> bool:
    """Whether the proof shows that a tree of `old` leaves with root `before` grew into that of `new`."""
    if not 0 < old <= new:
        return False
    if old == new:
        return not proof and before == after
    # The first hash is where both trees part; it is left out where that is the whole old tree.
    steps = list(proof) if old & (old - 1) else [before, *proof]
    if not steps:
        return False
    place, last = old - 1, new - 1
    while place & 1:
        place, last = place >> 1, last >> 1
    first = second = steps[0]
    for step in steps[1:]:
        if last == 0:
            return False
        if place & 1 or place == last:
            first, second = node(step, first), node(step, second)
            while not place & 1 and place:
                place, last = place >> 1, last >> 1
        else:
            second = node(second, step)
        place, last = place >> 1, last >> 1
    return last == 0 and first == before and second == after
