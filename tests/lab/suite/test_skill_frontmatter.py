"""Frontmatter is read as it is written, and compared with JSON by what it can mean."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.lab.suite.skill_frontmatter import LONGEST, frontmatter_of, says


@pytest.mark.parametrize(
    "text",
    [
        "---\nname: a\ndescription: b\n---\n",
        "\ufeff---\r\nname: a\r\ndescription: b\r\n---\r\nText",
        "---  \nname: a\ndescription: b\n---",
    ],
)
def test_block_is_found(text: str) -> None:
    assert frontmatter_of(text) == {"name": "a", "description": "b"}


@pytest.mark.parametrize(
    "text", ["", "name: a", "\n---\nname: a\n---\n", "---\n- a\n---\n", "---\na: [\n---\n"]
)
def test_what_is_no_block_gives_nothing(text: str) -> None:
    assert frontmatter_of(text) is None


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("1.0", "1.0"),
        ("1.0", 1),
        ("0x10", 16),
        ("true", True),
        ("yes", True),
        ("true", "true"),
        ("", None),
        ("~", None),
        ({"a": ["1", "b"]}, {"a": [1, "b"]}),
    ],
)
def test_what_is_written_may_mean(written: Any, value: Any) -> None:
    assert says(written, value)


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("1", True),
        ("a", None),
        ("a", 1),
        ("true", False),
        ("a", ["a"]),
        ({"a": "1"}, {}),
        ({"a": "1"}, "a"),
        (["1"], [1, 2]),
        (["1"], "1"),
    ],
)
def test_what_is_written_cannot_mean(written: Any, value: Any) -> None:
    assert not says(written, value)


@given(st.text(max_size=40))
def test_any_text_can_be_read(text: str) -> None:
    fields = frontmatter_of(f"---\n{text}\n---\n")
    assert fields is None or says(fields, fields) in (True, False)


def test_block_of_a_hostile_size_is_not_read() -> None:
    assert frontmatter_of(f"---\na: {'x' * LONGEST}\n---\n") is None
