"""Schemas of subjects are judged by their own dialect, and nothing that they name is fetched."""

from typing import Any

import pytest

from assay.lab.harness.trace.json_schema import (
    DIALECT,
    dialect_of,
    dialect_problem,
    schema_problem,
    value_problem,
)

NOWHERE = "http://127.0.0.1:1/schema"
"""Nobody listens there: an attempt to fetch it would be told as a problem."""


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object"},
        {"$schema": "http://json-schema.org/draft-07/schema#", "items": [{"type": "string"}]},
        {"$schema": f"{DIALECT}#", "prefixItems": [{"type": "string"}]},
        True,
    ],
)
def test_a_schema_that_keeps_to_its_dialect_has_no_problem(schema: Any) -> None:
    assert dialect_problem(schema) is None
    assert schema_problem(schema) is None


@pytest.mark.parametrize("schema", [{"type": "objekt"}, {"items": [{"type": "string"}]}, {"$schema": 17}])
def test_a_schema_that_does_not_is_told(schema: Any) -> None:
    assert dialect_problem(schema)
    assert schema_problem(schema)


def test_a_dialect_that_nobody_knows_is_neither_fetched_nor_blamed() -> None:
    schema = {"$schema": NOWHERE, "type": "anything"}
    assert dialect_of(schema) == NOWHERE
    assert dialect_problem(schema) is None
    assert schema_problem(schema) is None
    assert value_problem({}, schema) is None


def test_a_reference_elsewhere_is_not_followed() -> None:
    schema = {"$ref": NOWHERE}
    assert dialect_problem(schema) is None
    assert "not looked up" in str(schema_problem(schema))
    assert value_problem({}, schema) is None
