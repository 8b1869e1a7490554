"""Generated arguments: valid ones, and ones with a single fault."""

import random
from typing import Any

import pytest

from assay.lab.fuzz.choice import Choices
from assay.lab.fuzz.schema_value import fitting, is_refused, near_miss
from assay.lab.harness.trace.json_schema import value_problem

TEXT = {"type": "string", "minLength": 2, "maxLength": 5}
SCHEMAS: list[dict[str, Any]] = [
    {"type": "object", "properties": {"a": TEXT}, "required": ["a"]},
    {
        "type": "object",
        "properties": {"n": {"type": "integer", "minimum": 3, "maximum": 9}},
        "required": ["n"],
    },
    {"type": "object", "properties": {"x": {"enum": ["p", "q"]}}, "required": ["x"]},
    {
        "type": "object",
        "properties": {"tree": {"$ref": "#/$defs/tree"}},
        "required": ["tree"],
        "$defs": {"tree": {"type": "array", "items": {"anyOf": [{"type": "null"}, {"type": "boolean"}]}}},
    },
    {"type": "object", "properties": {"when": {"type": "string", "format": "date"}}, "required": ["when"]},
    {"type": "object"},
]


def choices(seed: int) -> Choices:
    return Choices(random.Random(seed).randbytes(20))


@pytest.mark.parametrize("schema", SCHEMAS)
def test_fitting_values_are_valid(schema: dict[str, Any]) -> None:
    for seed in range(50):
        value = fitting(choices(seed), schema)
        if "\ud800" not in repr(value) and "\\ud" not in repr(value):
            assert value_problem(value, schema) is None


@pytest.mark.parametrize("schema", SCHEMAS[:4])
def test_some_near_misses_are_refused(schema: dict[str, Any]) -> None:
    assert any(is_refused(near_miss(choices(seed), schema), schema) for seed in range(50))


@pytest.mark.parametrize(
    "schema", [None, True, {}, {"type": 7}, {"$ref": "#/nowhere"}, {"type": "object", "required": 3}]
)
def test_invalid_schema_gets_a_value(schema: Any) -> None:
    for seed in range(20):
        fitting(choices(seed), schema)
        near_miss(choices(seed), schema)
