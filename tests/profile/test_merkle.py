"""Merkle trees: test vectors of RFC 6962 implementations, and proofs that hold only for what they prove."""

from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.profile.merkle import (
    EMPTY,
    Tree,
    consistency,
    inclusion,
    is_consistent,
    is_included,
    leaf,
    node,
    root,
)

# Inputs and roots from the tests of Certificate Transparency implementations.
INPUTS = [
    bytes.fromhex(text)
    for text in (
        "",
        "00",
        "10",
        "2021",
        "3031",
        "40414243",
        "5051525354555657",
        "606162636465666768696a6b6c6d6e6f",
    )
]
ROOTS = [
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
]
LEAVES = [leaf(bytes([number])) for number in range(70)]
sizes = st.integers(1, len(LEAVES))


@pytest.mark.parametrize("size", range(1, 9))
def test_the_roots_are_those_of_certificate_transparency(size: int) -> None:
    assert root([leaf(data) for data in INPUTS[:size]]).hex() == ROOTS[size - 1]


def test_nothing_has_the_hash_of_nothing() -> None:
    assert root([]) == Tree().root() == EMPTY == sha256(b"").digest()


@given(st.lists(st.binary(max_size=4), max_size=70))
def test_a_tree_that_grows_has_the_same_root(entries: list[bytes]) -> None:
    tree = Tree()
    for entry in entries:
        tree.add(entry)
    assert (tree.root(), tree.size) == (root([leaf(entry) for entry in entries]), len(entries))


def test_a_node_is_never_a_leaf() -> None:
    left, right = LEAVES[:2]
    assert leaf(left + right) != node(left, right)


@given(sizes, st.data())
def test_every_leaf_can_be_shown_to_be_in_the_tree(size: int, data: st.DataObject) -> None:
    index = data.draw(st.integers(0, size - 1))
    proof = inclusion(LEAVES[:size], index)
    assert is_included(LEAVES[index], index, size, proof, root(LEAVES[:size]))


@given(sizes, st.data())
def test_no_other_leaf_place_or_root_passes(size: int, data: st.DataObject) -> None:
    index = data.draw(st.integers(0, size - 1))
    proof, top = inclusion(LEAVES[:size], index), root(LEAVES[:size])
    assert not is_included(leaf(b"other"), index, size, proof, top)
    assert not is_included(LEAVES[index], index, size, proof, EMPTY)
    assert not is_included(LEAVES[index], index, size, [*proof, EMPTY], top)
    assert not is_included(LEAVES[index], size, size, proof, top)
    assert not is_included(LEAVES[index], -1, size, proof, top)
    other = data.draw(st.integers(0, size - 1).filter(lambda place: place != index)) if size > 1 else None
    assert other is None or not is_included(LEAVES[index], other, size, proof, top)
    assert not proof or not is_included(LEAVES[index], index, size, proof[:-1], top)


@given(sizes, st.data())
def test_a_tree_that_was_added_to_can_be_shown_to_be_so(size: int, data: st.DataObject) -> None:
    old = data.draw(st.integers(1, size))
    proof = consistency(LEAVES[:size], old)
    assert is_consistent(old, size, root(LEAVES[:old]), root(LEAVES[:size]), proof)


@given(sizes, st.data())
def test_a_tree_in_which_something_changed_is_not_consistent(size: int, data: st.DataObject) -> None:
    old = data.draw(st.integers(1, size))
    changed = data.draw(st.integers(0, old - 1))
    after = [*LEAVES[:size]]
    after[changed] = leaf(b"other")
    proof = consistency(after, old)
    before = root(LEAVES[:old])
    assert not is_consistent(old, size, before, root(after), proof)
    assert not is_consistent(
        old, size, before, root(LEAVES[:size]), [*consistency(LEAVES[:size], old), EMPTY]
    )
    assert not is_consistent(0, size, before, root(after), proof)
    assert not is_consistent(size + 1, size, before, root(after), proof)


@given(sizes, st.data())
def test_a_proof_of_consistency_lacks_nothing(size: int, data: st.DataObject) -> None:
    old = data.draw(st.integers(1, size))
    proof = consistency(LEAVES[:size], old)
    short = proof[:-1]
    assert not proof or not is_consistent(old, size, root(LEAVES[:old]), root(LEAVES[:size]), short)


def test_there_is_no_proof_of_what_is_not_there() -> None:
    with pytest.raises(IndexError):
        inclusion(LEAVES[:3], 3)
    with pytest.raises(IndexError):
        consistency(LEAVES[:3], 4)
    with pytest.raises(IndexError):
        consistency(LEAVES[:3], 0)
