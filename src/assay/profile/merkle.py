"""Merkle trees (RFC 6962, 2.1): one hash covers a whole list, and short proofs show what is in it.

Leaves are hashed with the prefix 0 and nodes with the prefix 1, so that neither can pass for the other.
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
    """A tree that grows leaf by leaf and stores only one hash per power of two."""

    def __init__(self) -> None:
        self.size = 0
        self._peaks: list[bytes] = []
        """The roots of the complete subtrees, largest first."""

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
        top = self._peaks[-1]
        for peak in reversed(self._peaks[:-1]):
            top = node(peak, top)
        return top


def root(leaves: Sequence[bytes]) -> bytes:
    """The root over hashed leaves."""
    if not leaves:
        return EMPTY
    if len(leaves) == 1:
        return leaves[0]
    middle = _split(len(leaves))
    return node(root(leaves[:middle]), root(leaves[middle:]))


def _split(size: int) -> int:
    """The largest power of two below the size."""
    return 1 << (size - 1).bit_length() - 1


def inclusion(leaves: Sequence[bytes], index: int) -> list[bytes]:
    """The proof that a leaf is in the tree: its siblings on the path to the root (RFC 6962, 2.1.1)."""
    if not 0 <= index < len(leaves):
        raise IndexError(f"no leaf {index} among {len(leaves)}")
    if len(leaves) == 1:
        return []
    middle = _split(len(leaves))
    if index < middle:
        return [*inclusion(leaves[:middle], index), root(leaves[middle:])]
    return [*inclusion(leaves[middle:], index - middle), root(leaves[:middle])]


def is_included(leaf_hash: bytes, index: int, size: int, proof: Sequence[bytes], expected: bytes) -> bool:
    """Whether the proof leads from the leaf at `index` of `size` leaves to the expected root."""
    if not 0 <= index < size:
        return False
    computed, last = leaf_hash, size - 1
    for sibling in proof:
        if last == 0:
            return False
        if index & 1 or index == last:
            computed = node(sibling, computed)
            while not index & 1 and index:
                index, last = index >> 1, last >> 1
        else:
            computed = node(computed, sibling)
        index, last = index >> 1, last >> 1
    return last == 0 and computed == expected


def consistency(leaves: Sequence[bytes], old: int) -> list[bytes]:
    """The proof that the tree of the first `old` leaves was only appended to (RFC 6962, 2.1.2)."""
    if not 0 < old <= len(leaves):
        raise IndexError(f"no tree of {old} leaves in one of {len(leaves)}")
    return _steps(leaves, old, whole=True)


def _steps(leaves: Sequence[bytes], old: int, *, whole: bool) -> list[bytes]:
    """`whole`: the verifier knows the root of these leaves already, as that of the old tree."""
    if old == len(leaves):
        return [] if whole else [root(leaves)]
    middle = _split(len(leaves))
    if old <= middle:
        return [*_steps(leaves[:middle], old, whole=whole), root(leaves[middle:])]
    return [*_steps(leaves[middle:], old - middle, whole=False), root(leaves[:middle])]


def is_consistent(old: int, new: int, before: bytes, after: bytes, proof: Sequence[bytes]) -> bool:
    """Whether the proof shows that a tree of `old` leaves with root `before` grew into one of `new`
    leaves."""
    if not 0 < old <= new:
        return False
    if old == new:
        return not proof and before == after
    # The first hash is where the trees diverge; it is omitted if that is the whole old tree.
    steps = list(proof) if old & (old - 1) else [before, *proof]
    if not steps:
        return False
    index, last = old - 1, new - 1
    while index & 1:
        index, last = index >> 1, last >> 1
    first = second = steps[0]
    for step in steps[1:]:
        if last == 0:
            return False
        if index & 1 or index == last:
            first, second = node(step, first), node(step, second)
            while not index & 1 and index:
                index, last = index >> 1, last >> 1
        else:
            second = node(second, step)
        index, last = index >> 1, last >> 1
    return last == 0 and first == before and second == after
