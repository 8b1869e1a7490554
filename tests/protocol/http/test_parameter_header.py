"""Arguments that a client repeats in headers, read from schemas that may be hostile."""

from __future__ import annotations

from typing import Any

import pytest

from assay.protocol.http.parameter_header import HeaderParameter, InvalidHeader, header_parameters

STRING = {"type": "string"}


def marked(header: Any = "Region", kind: Any = "string") -> dict[str, Any]:
    return {"type": kind, "x-mcp-header": header}


def test_marks_are_read_with_their_paths() -> None:
    inner = {"type": "object", "properties": {"depth": marked("Depth", "integer")}}
    schema = {"type": "object", "properties": {"region": marked(), "inner": inner, "other": STRING}}
    assert header_parameters(schema) == (
        HeaderParameter(("region",), "Mcp-Param-Region"),
        HeaderParameter(("inner", "depth"), "Mcp-Param-Depth"),
    )


@pytest.mark.parametrize("schema", [{}, {"properties": {}}, {"properties": {"a": STRING}}, True, None, []])
def test_schemas_without_marks_have_none(schema: Any) -> None:
    assert header_parameters(schema) == ()


def test_values_that_look_like_marks_are_not() -> None:
    schema = {"properties": {"a": {"default": {"x-mcp-header": 1}, "enum": [{"x-mcp-header": "b c"}]}}}
    assert header_parameters(schema) == ()


@pytest.mark.parametrize(
    "schema",
    [
        {"x-mcp-header": "Root"},
        {"properties": {"a": marked("with space")}},
        {"properties": {"a": marked("line\r\nbreak")}},
        {"properties": {"a": marked("")}},
        {"properties": {"a": marked(3)}},
        {"properties": {"a": marked("A", "object")}},
        {"properties": {"a": marked("A", "number")}},
        {"properties": {"a": marked("A", None)}},
        {"properties": {"a": marked("Same"), "b": marked("same")}},
        {"properties": {"a": {"type": "array", "items": marked()}}},
        {"anyOf": [{"properties": {"a": marked()}}]},
        {"$defs": {"a": marked()}},
    ],
)
def test_marks_that_break_the_rules_are_refused(schema: Any) -> None:
    with pytest.raises(InvalidHeader):
        header_parameters(schema)


@pytest.mark.parametrize(
    ("arguments", "value"),
    [({"a": {"b": 1}}, 1), ({"a": {}}, None), ({"a": 3}, None), ({}, None), (None, None), ([], None)],
)
def test_absent_arguments_have_no_value(arguments: Any, value: Any) -> None:
    assert HeaderParameter(("a", "b"), "Mcp-Param-B").value_in(arguments) == value
