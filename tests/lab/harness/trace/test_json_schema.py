"""Schemas of subjects are validated in their own dialect, and no reference is fetched."""

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
"""Nothing listens there: an attempt to fetch it would be reported as a problem."""


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object"},
        {"$schema": "http://json-schema.org/draft-07/schema#", "items": [{"type": "string"}]},
        {"$schema": f"{DIALECT}#", "prefixItems": [{"type": "string"}]},
        True,
    ],
)
def test_a_schema_that_is_valid_in_its_dialect_has_no_problem(schema: Any) -> None:
    assert dialect_problem(schema) is None
    assert schema_problem(schema) is None


@pytest.mark.parametrize("schema", [{"type": "objekt"}, {"items": [{"type": "string"}]}, {"$schema": 17}])
def test_an_invalid_schema_has_a_problem(schema: Any) -> None:
    assert dialect_problem(schema)
    assert schema_problem(schema)


def test_an_unknown_dialect_is_neither_fetched_nor_a_problem() -> None:
    schema = {"$schema": NOWHERE, "type": "anything"}
    assert dialect_of(schema) == NOWHERE
    assert dialect_problem(schema) is None
    assert schema_problem(schema) is None
    assert value_problem({}, schema) is None


def test_an_external_reference_is_not_fetched() -> None:
    schema = {"$ref": NOWHERE}
    assert dialect_problem(schema) is None
    assert "external references are not fetched" in str(schema_problem(schema))
    assert value_problem({}, schema) is None
