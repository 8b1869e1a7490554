"""Lines do not depend on chunking, and nothing over-long is buffered."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.protocol.framing.lines import LineFramer, LineTooLong, frame

# A small alphabet, so that terminators, blanks and limits coincide often.
STREAMS = st.lists(st.sampled_from([b"a", b"b", b" ", b"\r", b"\n", b"\r\n", b"abcd"])).map(b"".join)


def chunks(data: bytes, cuts: list[int]) -> list[bytes]:
    edges = [0, *sorted(cut % (len(data) + 1) for cut in cuts), len(data)]
    return [data[start:end] for start, end in itertools.pairwise(edges)]


def lines_of(pieces: list[bytes], limit: int) -> list[bytes | LineTooLong]:
    framer = LineFramer(limit)
    lines = [line for piece in pieces for line in framer.feed(piece)]
    return lines + framer.end()


def expected(data: bytes, limit: int) -> list[bytes | LineTooLong]:
    """The same rules, applied to the whole input."""
    lines = [line.removesuffix(b"\r") for line in data.split(b"\n")]
    return [
        LineTooLong(limit) if len(line) > limit else line
        for line in lines
        if len(line) > limit or line.strip()
    ]


@given(data=STREAMS, cuts=st.lists(st.integers(min_value=0)), limit=st.integers(0, 6))
def test_any_chunking_gives_the_same_lines(data: bytes, cuts: list[int], limit: int) -> None:
    assert lines_of(chunks(data, cuts), limit) == expected(data, limit)


@given(data=st.binary(), cuts=st.lists(st.integers(min_value=0)))
def test_arbitrary_bytes_are_split_into_lines(data: bytes, cuts: list[int]) -> None:
    assert lines_of(chunks(data, cuts), 8) == expected(data, 8)


@given(data=STREAMS, cuts=st.lists(st.integers(min_value=0)), limit=st.integers(0, 6))
def test_never_more_than_a_limit_is_held(data: bytes, cuts: list[int], limit: int) -> None:
    framer = LineFramer(limit)
    for piece in chunks(data, cuts):
        framer.feed(piece)
        # One more for a carriage return that may turn out to be half of the terminator.
        assert framer.held <= limit + 1


def test_one_chunk_of_one_line_is_returned_at_once() -> None:
    assert LineFramer(100).feed(b'{"id":1}\n') == [b'{"id":1}']


def test_several_lines_and_a_start_come_from_one_chunk() -> None:
    framer = LineFramer(100)
    assert framer.feed(b"one\ntwo\r\nth") == [b"one", b"two"]
    assert framer.feed(b"ree\n") == [b"three"]


def test_empty_input_gives_no_lines() -> None:
    framer = LineFramer(100)
    assert framer.feed(b"") == []
    assert framer.feed(b"a") == []
    assert framer.feed(b"") == []
    assert framer.end() == [b"a"]


@pytest.mark.parametrize("blank", [b"\n", b"\r\n", b"  \t\n", b"\n\n\n"])
def test_blank_lines_are_skipped(blank: bytes) -> None:
    assert LineFramer(100).feed(blank + b"x\n") == [b"x"]


def test_too_long_is_reported_when_the_limit_is_passed_and_only_once() -> None:
    framer = LineFramer(4)
    assert framer.feed(b"abcd") == []
    assert framer.feed(b"e") == [LineTooLong(4)]
    assert framer.held == 0
    assert framer.feed(b"fghijklmnop") == []
    assert framer.feed(b"q\nok\n") == [b"ok"]


def test_line_of_exactly_the_limit_passes_with_either_terminator() -> None:
    assert LineFramer(4).feed(b"abcd\n") == [b"abcd"]
    assert LineFramer(4).feed(b"abcd\r\n") == [b"abcd"]
    assert LineFramer(4).feed(b"abcde\n") == [LineTooLong(4)]


def test_end_in_the_middle_of_a_discarded_line_gives_nothing_more() -> None:
    framer = LineFramer(2)
    assert framer.feed(b"abc") == [LineTooLong(2)]
    assert framer.end() == []
    assert framer.feed(b"x\n") == [b"x"]


@given(st.binary().filter(lambda message: b"\n" not in message))
def test_framed_message_ends_with_the_only_newline(message: bytes) -> None:
    assert frame(message) == message + b"\n"


def test_message_with_a_raw_newline_is_refused() -> None:
    with pytest.raises(ValueError, match="raw newline"):
        frame(b'{\n"id": 1}')
