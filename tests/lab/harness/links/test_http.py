"""Event streams are split into blocks without changing a byte, regardless of chunking."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.lab.harness.links.http import Blocks, has_comment

PIECES = [b"data: 1\n\n", b"id: 7\r\ndata: 2\r\n\r\n", b": comment\n\n", b"event: x\ndata: a\ndata: b\n\n"]


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
def test_blocks_do_not_depend_on_how_they_arrive(size: int) -> None:
    data = b"".join(PIECES)
    blocks = Blocks()
    complete = [block for at in range(0, len(data), size) for block in blocks.feed(data[at : at + size])]
    assert b"".join(complete) + blocks.rest == data
    assert [block.strip() for block in complete] == [piece.strip() for piece in PIECES]


@given(st.lists(st.binary(max_size=12), max_size=8))
def test_no_byte_is_lost_or_changed(chunks: list[bytes]) -> None:
    blocks = Blocks()
    complete = [block for chunk in chunks for block in blocks.feed(chunk)]
    assert b"".join(complete) + blocks.rest == b"".join(chunks)


def test_unfinished_block_stays_in_the_rest() -> None:
    blocks = Blocks()
    assert blocks.feed(b"data: 1\n\ndata: 2\n") == [b"data: 1\n\n"]
    assert blocks.rest == b"data: 2\n"


@pytest.mark.parametrize(
    ("block", "has"),
    [
        (b": ping\n\n", True),
        (b":\r\n\r\n", True),
        (b"id: 1\n: still here\ndata: x\n\n", True),
        (b"data: : not one\n\n", False),
        (b"data: x\n\n", False),
    ],
)
def test_comment_is_a_line_that_begins_with_a_colon(block: bytes, has: bool) -> None:
    assert has_comment(block) is has
