"""The fields at the beginning of a Markdown file, as JSON."""

from __future__ import annotations

from typing import Any

import pytest

from assay.protocol.frontmatter import differing_field, frontmatter_as_json, read_frontmatter


def with_fields(fields: str) -> str:
    return f"---\n{fields}\n---\n# Title\n"


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("text", "text"),
        ("'1.0'", "1.0"),
        ("1.5", 1.5),
        ("1e3", 1000.0),
        ("12", 12),
        ("-3", -3),
        ("010", 10),
        ("0x1f", 31),
        ("true", True),
        ("yes", "yes"),
        ("off", "off"),
        ("2024-01-01", "2024-01-01"),
        ("12:30:00", "12:30:00"),
        ("1_000", "1_000"),
        ("~", None),
        ("", None),
        ("[a, 1]", ["a", 1]),
        ("{a: {b: c}}", {"a": {"b": "c"}}),
        ("<<", "<<"),
    ],
)
def test_values_have_the_types_of_yaml_1_2(written: str, value: Any) -> None:
    fields = frontmatter_as_json(with_fields(f"field: {written}"))
    assert fields == {"field": value}
    assert type(fields["field"]) is type(value)


def test_what_a_server_publishes_is_what_a_client_finds_in_the_file() -> None:
    text = with_fields("name: a\nversion: 2.1\nactive: true\nempty:\ntags: [x, 010]")
    assert differing_field(read_frontmatter(text), frontmatter_as_json(text)) is None


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ("a: &x 1\nb: *x", "aliases"),
        ("a: .nan", "JSON does not have"),
        ("a: .inf", "JSON does not have"),
        ("a: !!binary aGk=", "JSON does not have"),
        ("a: !!timestamp 2024-01-01", "JSON does not have"),
        ("1: a", "not text"),
        ("a: [b", "not valid YAML"),
        ("a: !!python/object/apply:os.getcwd []", "not valid YAML"),
        ("- a", "no fields"),
        ("a: " + "[" * 401, "brackets"),
        ("a: " + "x" * 20_000, "does not end"),
    ],
)
def test_what_json_cannot_express_is_refused(fields: str, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        frontmatter_as_json(with_fields(fields))


@pytest.mark.parametrize("text", ["", "# Title\n", "--- x\na: b\n---\n", "---\na: b\n"])
def test_a_file_without_frontmatter_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="frontmatter"):
        frontmatter_as_json(text)
