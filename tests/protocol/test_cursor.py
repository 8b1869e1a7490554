"""A list accepts only cursors that were issued for it."""

from __future__ import annotations

import base64
import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.protocol.cursor import UnknownCursor, decode_cursor, encode_cursor

POSITIONS = st.integers(0, 10**12)


def forged(body: bytes) -> str:
    """A cursor with a valid checksum over any body."""
    checksum = hashlib.blake2s(body, digest_size=6).digest()
    return base64.urlsafe_b64encode(checksum + body).rstrip(b"=").decode()


@given(kind=st.text(st.characters(codec="utf-8")), after=POSITIONS)
def test_issued_cursor_gives_its_position_back(kind: str, after: int) -> None:
    assert decode_cursor(kind, encode_cursor(kind, after), newest=after) == after


@given(after=POSITIONS)
def test_cursor_survives_a_query_string(after: int) -> None:
    assert set(encode_cursor("tools", after)) <= set(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    )


def test_cursor_is_the_same_in_every_process() -> None:
    """Several workers serve the pages of one list, so the encoding must not change."""
    assert encode_cursor("tools", 50) == forged(b"tools:50")


@given(cursor=st.text())
def test_any_other_text_is_unknown(cursor: str) -> None:
    with pytest.raises(UnknownCursor) as caught:
        decode_cursor("tools", cursor, newest=100)
    assert (caught.value.kind, caught.value.cursor) == ("tools", cursor)


@given(after=POSITIONS, place=st.integers(min_value=0), letter=st.sampled_from("Aa0-_=.+/ é"))
def test_altered_cursor_is_unknown(after: int, place: int, letter: str) -> None:
    cursor = encode_cursor("tools", after)
    place %= len(cursor) + 1
    for altered in (cursor[:place] + letter + cursor[place:], cursor[:place] + letter + cursor[place + 1 :]):
        if altered != cursor:
            with pytest.raises(UnknownCursor):
                decode_cursor("tools", altered, newest=after)


@pytest.mark.parametrize(
    "cursor",
    [
        "",
        encode_cursor("prompts", 3),
        encode_cursor("tools", 11),
        encode_cursor("tools", 3) + "=",
        forged(b"tools:-1"),
        forged(b"tools:+3"),
        forged(b"tools:03"),
        forged(b"tools:1_0"),
        forged(b"tools: 3"),
        forged(b"tools:"),
        forged(b"tools:" + b"1" * 5000),
        forged(b"tools:\xff"),
        "AAAA",
    ],
)
def test_cursor_never_issued_for_this_list_is_unknown(cursor: str) -> None:
    with pytest.raises(UnknownCursor):
        decode_cursor("tools", cursor, newest=10)


def test_negative_position_is_never_issued() -> None:
    with pytest.raises(ValueError, match="-1"):
        encode_cursor("tools", -1)


def test_refusal_shows_a_bounded_part_of_the_cursor() -> None:
    assert str(UnknownCursor("tools", "x" * 1000)) == f"unknown tools cursor: '{'x' * 80}'"
