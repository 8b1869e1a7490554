"""Validates JSON Schemas that a subject publishes, and values against them. References are never fetched."""

from __future__ import annotations

from typing import Any, Final

import jsonschema_rs

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
"""The default for a schema without `$schema`."""
DIALECTS: Final = frozenset(
    {
        DIALECT,
        "https://json-schema.org/draft/2019-09/schema",
        "http://json-schema.org/draft-07/schema",
        "http://json-schema.org/draft-06/schema",
        "http://json-schema.org/draft-04/schema",
    }
)


def _refuse(uri: str) -> Any:
    raise ValueError(f"the schema refers to {uri}; external references are not fetched")


def dialect_of(schema: Any) -> str:
    """The dialect that a schema declares."""
    dialect = schema.get("$schema", DIALECT) if isinstance(schema, dict) else DIALECT
    return dialect.rstrip("#") if isinstance(dialect, str) else DIALECT


def dialect_problem(schema: Any) -> str | None:
    """Why a schema is invalid in its dialect; None if it is valid or the dialect is unknown."""
    # The validator would fetch an unknown dialect.
    if dialect_of(schema) not in DIALECTS:
        return None
    try:
        jsonschema_rs.meta.validate(schema)
    except (jsonschema_rs.ValidationError, ValueError) as error:
        return first_line(error)
    return None


def schema_problem(schema: Any) -> str | None:
    """Why a validator cannot use a schema; None if it can or the dialect is unknown."""
    if problem := dialect_problem(schema):
        return problem
    if dialect_of(schema) not in DIALECTS:
        return None
    try:
        jsonschema_rs.validator_for(schema, retriever=_refuse)
    except (jsonschema_rs.ValidationError, ValueError) as error:
        return first_line(error)
    return None


def value_problem(value: Any, schema: Any) -> str | None:
    """Why a value violates a schema; None if it does not or the schema is unusable."""
    try:
        validator = jsonschema_rs.validator_for(schema, retriever=_refuse)
    except (jsonschema_rs.ValidationError, ValueError):
        return None
    error = next(iter(validator.iter_errors(value)), None)
    return None if error is None else first_line(error)


def first_line(error: Exception) -> str:
    return str(error).splitlines()[0]
