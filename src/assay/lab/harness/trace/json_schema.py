"""JSON Schemas that a subject publishes, judged by a validator of their dialect. Nothing is ever fetched."""

from __future__ import annotations

from typing import Any, Final

import jsonschema_rs

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
"""Of a schema that names none."""
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
    raise ValueError(f"the schema refers to {uri}, which is not looked up")


def dialect_of(schema: Any) -> str:
    """The dialect that a schema is written in, by its own word."""
    said = schema.get("$schema", DIALECT) if isinstance(schema, dict) else DIALECT
    return said.rstrip("#") if isinstance(said, str) else DIALECT


def dialect_problem(schema: Any) -> str | None:
    """Why a schema does not keep to its dialect; none when it does, or when nobody here knows the dialect."""
    # The validator would fetch a dialect that it does not know.
    if dialect_of(schema) not in DIALECTS:
        return None
    try:
        jsonschema_rs.meta.validate(schema)
    except (jsonschema_rs.ValidationError, ValueError) as error:
        return first_line(error)
    return None


def schema_problem(schema: Any) -> str | None:
    """Why a schema cannot be used as it is; none when it can, or when nobody here knows its dialect."""
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
    """Why a value does not fit a schema; none when it fits, or when the schema itself is no good."""
    try:
        validator = jsonschema_rs.validator_for(schema, retriever=_refuse)
    except (jsonschema_rs.ValidationError, ValueError):
        return None
    error = next(iter(validator.iter_errors(value)), None)
    return None if error is None else first_line(error)


def first_line(error: Exception) -> str:
    return str(error).splitlines()[0]
