"""Ledger lines are canonical JSON, whatever encoder wrote them."""

import json
from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.profile.ledger_entry import FIRST, Entry, SegmentClosed, WrongHash, decode_line, encode_line
from assay.signing import canonical

HIDDEN = "hmac:" + "0f" * 32
TIME = "2026-10-01T10:11:12.013Z"
words = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=40)


def entry(target: str = "echo", **members: str | None) -> Entry:
    return Entry(
        **{"event": "tool_invocation", "retention_tier": "short-30d", **members},
        effects_hash=FIRST,
        payload_hash=FIRST,
        prev=FIRST,
        seq=3,
        target=target,
        time=TIME,
    )


@given(words, words, st.sampled_from([None, HIDDEN]), st.sampled_from([None, HIDDEN]))
def test_the_fast_form_is_the_canonical_one(
    target: str, event: str, session: str | None, principal: str | None
) -> None:
    line, hashed = encode_line(entry(target, event=event, session=session, principal=principal))
    value = json.loads(line)
    assert line == canonical.encode(value) + b"\n"
    assert value.pop("entryHash") == hashed == f"sha256:{sha256(canonical.encode(value)).hexdigest()}"


@given(words)
def test_what_was_sealed_can_be_opened(target: str) -> None:
    line, hashed = encode_line(entry(target, session=HIDDEN))
    assert decode_line(line[:-1]) == (entry(target, session=HIDDEN), hashed)


def test_the_last_line_has_its_own_shape() -> None:
    closed = SegmentClosed("closed", FIRST, 7, "segment", TIME)
    line, hashed = encode_line(closed)
    assert decode_line(line[:-1]) == (closed, hashed)


@given(st.data())
def test_no_byte_can_change(data: st.DataObject) -> None:
    line = bytearray(encode_line(entry())[0][:-1])
    line[data.draw(st.integers(0, len(line) - 1))] ^= data.draw(st.integers(1, 255))
    with pytest.raises(ValueError):
        decode_line(bytes(line))


def test_another_content_has_another_hash() -> None:
    line = encode_line(entry())[0][:-1].replace(b"echo", b"eche")
    with pytest.raises(WrongHash):
        decode_line(line)
