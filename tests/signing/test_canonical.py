"""Canonical JSON, the only form that is signed."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.signing.canonical import NotCanonical, decode, encode, encode_as_before

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
EXACT = 2**53 - 1
FLOATS = st.floats(allow_nan=False, allow_infinity=False).filter(
    lambda number: not number.is_integer() or abs(number) <= EXACT
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-EXACT, EXACT) | FLOATS | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)


@given(VALUES)
def test_what_was_written_is_read_again(value: object) -> None:
    assert decode(encode(value)) == value


@pytest.mark.parametrize(
    ("value", "data"),
    [
        ({"b": [1, 2.5, None], "a": "é\n"}, '{"a":"é\\n","b":[1,2.5,null]}'),
        ([1.0, 1e21, 1e-7, -0.0, 100000.0], "[1,1e+21,1e-7,0,100000]"),
        ({"\ufb33": 1, "\U0001f600": 2}, '{"\U0001f600":2,"\ufb33":1}'),
    ],
)
def test_the_form_is_that_of_rfc_8785(value: object, data: str) -> None:
    assert encode(value) == data.encode()
    assert decode(data.encode()) == value


@pytest.mark.parametrize("data", ["[1.0]", "[1e+16]", '{"\ufb33":1,"\U0001f600":2}', "[9007199254740993]"])
def test_the_form_of_older_documents_is_still_read(data: str) -> None:
    assert encode_as_before(decode(data.encode())) == data.encode()


@pytest.mark.parametrize(
    "data",
    [
        b'{"b":1,"a":2}',
        b'{"a":1,"a":1}',
        b'{"a": 1}',
        b'{"a":1}\n',
        b'"\\u0041"',
        b"1e2",
        b"NaN",
        b'"\\ud800"',
        b"\xff",
        b"",
        b"[" * 100_000,
    ],
)
def test_another_form_is_refused(data: bytes) -> None:
    with pytest.raises(NotCanonical):
        decode(data)


def test_what_is_too_long_is_not_even_parsed() -> None:
    with pytest.raises(NotCanonical, match="5 bytes, which is more than 4"):
        decode(b"[1,2]", limit=4)


@pytest.mark.parametrize("value", [math.nan, math.inf, b"bytes", {1, 2}, "\ud800", 2**53])
def test_what_json_cannot_say_is_not_written(value: object) -> None:
    with pytest.raises(NotCanonical):
        encode(value)
