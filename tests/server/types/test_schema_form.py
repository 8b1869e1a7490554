"""The form of generated schemas: definitions, types beside choices."""

from __future__ import annotations

import enum
from typing import Any, Literal

import pydantic

from assay import Server
from assay.server.types.schema import schema_of
from assay.server.types.schema_form import tidy
from assay.server.types.validator import Validator


def model(name: str, **fields: Any) -> Any:
    return pydantic.create_model(name, **{key: (kind, ...) for key, kind in fields.items()})


def test_different_definitions_with_one_name_get_a_name_each() -> None:
    first, second = model("Item", a=int), model("Item", b=str)
    left, right = model("Left", x=first, y=first), model("Right", x=second, y=second)

    async def take(left, right): ...  # type: ignore[no-untyped-def]

    take.__annotations__.update(left=left, right=right)
    server = Server("test")
    server.tools.add(take)
    schema = server.tools.list()[0].input_schema
    assert sorted(schema["$defs"]) == ["Item", "Item_2"]
    item = {"a": 1}
    good = {"left": {"x": item, "y": item}, "right": {"x": {"b": "c"}, "y": {"b": "c"}}}
    assert Validator(schema).problem(good) is None
    assert Validator(schema).problem({"left": good["left"], "right": good["left"]}) is not None


def test_definition_that_is_used_once_is_inline_and_unused_ones_are_dropped() -> None:
    root = {"type": "object", "properties": {"a": {"$ref": "#/$defs/A", "description": "one"}}}
    definitions = {"A": {"type": "array", "items": {"$ref": "#/$defs/B"}}, "B": {"type": "null"}, "C": {}}
    assert tidy(root, definitions, {}) == {
        "type": "object",
        "properties": {"a": {"type": "array", "items": {"type": "null"}, "description": "one"}},
    }


def test_reference_with_conditions_of_its_own_keeps_both() -> None:
    root = {"$ref": "#/$defs/A", "minItems": 2}
    schema = tidy(root, {"A": {"type": "array", "minItems": 1, "maxItems": 3}}, {})
    assert schema == {"minItems": 2, "allOf": [{"type": "array", "minItems": 1, "maxItems": 3}]}


def test_recursive_root_is_inline_and_defined() -> None:
    node = {"type": "object", "properties": {"next": {"$ref": "#/$defs/Node"}}}
    assert tidy({"$ref": "#/$defs/Node"}, {"Node": node}, {}) == {**node, "$defs": {"Node": node}}


def test_properties_named_like_keywords_are_left_alone() -> None:
    schema = {"type": "object", "properties": {"enum": {"type": "string"}, "$ref": {"type": "string"}}}
    assert tidy(schema, {}, {}) == schema


def test_choices_have_types_and_their_order() -> None:
    class Size(enum.Enum):
        SMALL = "s"
        LARGE = "l"

    assert schema_of(Size) == {"type": "string", "enum": ["s", "l"]}
    assert schema_of(Literal[2, 1]) == {"type": "integer", "enum": [2, 1]}
    assert schema_of(Literal["a", 1, None]) == {"type": ["string", "integer", "null"], "enum": ["a", 1, None]}
