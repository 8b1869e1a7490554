"""Bytes in pieces are split into lines and blocks, regardless of chunking and in linear time."""

import time
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.lab.harness.links.split import Blocks, Lines
from assay.protocol.framing.lines import LineFramer
from assay.protocol.framing.sse import SseParser

PIECES = [b"data: 1\n\n", b"id: 7\r\ndata: 2\r\n\r\n", b": comment\n\n", b"event: x\ndata: a\ndata: b\n\n"]
ENDS = st.lists(st.sampled_from([b"\r", b"\n", b"\r\n", b"a", b"data: x"]), max_size=20).map(b"".join)
SIZE = 4 * 1024 * 1024
LARGE = {
    "lab: blocks": (lambda: Blocks().feed, b"data: " + b"x" * SIZE + b"\n\n"),
    "lab: lines": (lambda: Lines().feed, b"x" * SIZE + b"\n"),
    "events": (lambda: SseParser(2 * SIZE).feed, b"data: " + b"x" * SIZE + b"\n\n"),
    "events of many lines": (lambda: SseParser(2 * SIZE).feed, b"data: x\n" * (SIZE // 16) + b"\n"),
    "lines": (lambda: LineFramer(2 * SIZE).feed, b"x" * SIZE + b"\n"),
}


def chunks(data: bytes, size: int) -> list[bytes]:
    return [data[at : at + size] for at in range(0, len(data), size)]


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
def test_blocks_do_not_depend_on_how_they_arrive(size: int) -> None:
    data = b"".join(PIECES)
    blocks = Blocks()
    complete = [block for chunk in chunks(data, size) for block in blocks.feed(chunk)]
    assert b"".join(complete) + blocks.rest == data
    assert [block.strip() for block in complete] == [piece.strip() for piece in PIECES]


@given(data=ENDS, size=st.integers(1, 8))
def test_pieces_of_any_size_give_the_same_blocks(data: bytes, size: int) -> None:
    # Only the last byte may differ: a CR at the end of a piece may be half of a line end.
    data += b"end"
    whole, split = Blocks(), Blocks()
    at_once = whole.feed(data)
    in_pieces = [block for chunk in chunks(data, size) for block in split.feed(chunk)]
    assert b"".join(at_once) + whole.rest == b"".join(in_pieces) + split.rest == data
    assert _events(at_once) == _events(in_pieces)


def _events(blocks: list[bytes]) -> list[object]:
    parser = SseParser(1000)
    return [event for block in blocks for event in parser.feed(block)]


@given(st.lists(st.binary(max_size=12), max_size=8))
def test_no_byte_is_lost_or_changed(pieces: list[bytes]) -> None:
    data = b"".join(pieces)
    blocks, lines = Blocks(), Lines()
    complete = [block for piece in pieces for block in blocks.feed(piece)]
    assert b"".join(complete) + blocks.rest == data
    whole = [line for piece in pieces for line in lines.feed(piece)]
    assert b"\n".join([*whole, lines.rest]) == data


def test_unfinished_block_stays_in_the_rest() -> None:
    blocks = Blocks()
    assert blocks.feed(b"data: 1\n\ndata: 2\n") == [b"data: 1\n\n"]
    assert blocks.rest == b"data: 2\n"
    assert len(blocks) == len(b"data: 2\n")


@pytest.mark.parametrize("name", LARGE)
def test_time_for_a_large_message_does_not_depend_on_the_size_of_its_pieces(name: str) -> None:
    begin, data = LARGE[name]
    # A search from the beginning for each piece takes 1000 times as long as for the whole.
    assert _seconds(begin(), chunks(data, 4096)) < 1.0


def _seconds(feed: Callable[[bytes], list[object]], pieces: list[bytes]) -> float:
    start = time.process_time()
    complete = [item for piece in pieces for item in feed(piece)]
    seconds = time.process_time() - start
    assert len(complete) == 1
    return seconds
