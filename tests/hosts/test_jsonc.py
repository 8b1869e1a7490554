"""JSON with comments: read as JSON is, changed without losing a character of the rest."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.hosts.jsonc import MOST_DEPTH, BadJson, read, with_member

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**9), 10**9) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.dictionaries(st.text(max_size=6), VALUES, max_size=4)
ENTRY = {"command": "x", "args": ["a\nb"]}
COMMENTED = """// settings
{
    "theme": "dark", // "a": 1
    /* "servers": {} */
    "servers": {
        "old": {"command": "y"}, // keep }
    },
}
"""


@given(OBJECTS, st.sampled_from([None, 2, "\t"]))
def test_what_json_writes_is_read_and_changed_like_json(
    document: dict[str, Any], indent: int | str | None
) -> None:
    text = json.dumps(document, indent=indent)
    assert read(text) == document
    document.pop("servers", None)
    changed = with_member(json.dumps(document, indent=indent), ("servers", "new"), ENTRY)
    assert json.loads(changed) == {**document, "servers": {"new": ENTRY}}


def test_comments_and_commas_stay() -> None:
    changed = with_member(COMMENTED, ("servers", "new"), ENTRY)
    assert read(changed) == {"theme": "dark", "servers": {"old": {"command": "y"}, "new": ENTRY}}
    for line in COMMENTED.splitlines():
        assert line in changed
    added = '        "new": {\n            "command": "x",'
    assert added in changed


@pytest.mark.parametrize(
    "text",
    [
        '{"a": 1}',
        '{ "a": 1 // last\n}',
        '{"a": 1, /* x */ }',
        '{\r\n\t"a": 1\r\n}\r\n',
        "{ // nothing\n}",
        "\ufeff{}",
        "// only this\n",
        "",
        '{"servers": {}}',
        '{"servers": {"a": {}}} // end',
    ],
)
def test_nothing_is_lost_but_commas_are_added(text: str) -> None:
    changed = with_member(text, ("servers", "new"), ENTRY)
    before = read(text) or {}
    assert read(changed) == {**before, "servers": {**before.get("servers", {}), "new": ENTRY}}
    kept = iter(changed)
    assert all(character in kept for character in text), "the old text is a subsequence of the new"
    assert not re.search(r"(?<!\r)\n", changed) or "\r\n" not in text


def test_an_entry_is_replaced_in_its_place() -> None:
    text = '{"servers": {"a": {"command": "old"}, "b": 1}}'
    changed = with_member(text, ("servers", "a"), 7)
    assert changed == '{"servers": {"a": 7, "b": 1}}'


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{", "line 1: a text in quotes is missing or not closed, at the end"),
        ('{\n"a" 1}', "line 2: a colon is missing after 'a'"),
        ('{"a": 1 "b": 2}', "a comma or } is missing"),
        ('{"a": nope}', "a value is missing"),
        ('{"a": }', "a value is missing"),
        ('{"a": "x}', "not closed"),
        ('{"a": "\\q"}', "escape"),
        ("{} {}", "more than one value"),
        ("/* open", "a value is missing"),
        ("[" * 1000, f"nested more than {MOST_DEPTH} deep"),
        ('{"a":' * 1000, f"nested more than {MOST_DEPTH} deep"),
    ],
)
def test_what_is_not_valid_names_its_line(text: str, problem: str) -> None:
    with pytest.raises(BadJson, match=re.escape(problem)):
        read(text)


@pytest.mark.parametrize(
    ("text", "kind"), [("[]", "the file is not an object, but a list"), ('{"servers": 1}', "servers is not")]
)
def test_a_member_needs_an_object(text: str, kind: str) -> None:
    with pytest.raises(BadJson, match=kind):
        with_member(text, ("servers", "new"), ENTRY)
