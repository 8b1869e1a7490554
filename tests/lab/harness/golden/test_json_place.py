"""Positions of values in JSON texts."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.lab.harness.golden.json_place import is_json, places, steps_of

TEXT = ' {"a" : [1, {"b": "x"}], "c~/d": null, "a": {"b": [ ]} } '


def values_at(pointer: str, text: str = TEXT) -> list[str]:
    return [text[span.start : span.end] for span in places(text, steps_of(pointer))]


@pytest.mark.parametrize(
    ("pointer", "values"),
    [
        ("/a/1/b", ['"x"']),
        ("/a", ['[1, {"b": "x"}]', '{"b": [ ]}']),
        ("/a/*", ["1", '{"b": "x"}', "[ ]"]),
        ("/**/b", ['"x"', "[ ]"]),
        ("/c~0~1d", ["null"]),
        ("/nowhere", []),
        ("/c~0~1d/inside", []),
    ],
)
def test_pointer_matches_values(pointer: str, values: list[str]) -> None:
    assert values_at(pointer) == values


def test_pointer_begins_with_a_slash() -> None:
    with pytest.raises(ValueError, match="slash"):
        steps_of("result")


@pytest.mark.parametrize("text", ["", "{", '{"a":1} x', "[" * 100_000, "1" * 5_000, "\ufeff{}"])
def test_invalid_json_is_recognised(text: str) -> None:
    assert not is_json(text)


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inside: st.lists(inside, max_size=3) | st.dictionaries(st.text(max_size=4), inside, max_size=3),
    max_leaves=8,
)


@given(values, st.sampled_from([None, 1]))
def test_every_nested_value_is_matched_whole(value: object, indent: int | None) -> None:
    text = json.dumps(value, indent=indent)
    assert is_json(text)
    for place in values_at("/**/*", text):
        json.loads(place)
    if isinstance(value, dict):
        members = [json.loads(place) for place in values_at("/*", text)]
        assert members == list(value.values())
