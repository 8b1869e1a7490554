"""JSON Schemas that a subject publishes, judged by a validator of their dialect. Nothing is ever fetched."""

from __future__ import annotations

from typing import Any

import jsonschema_rs


def _refuse(uri: str) -> Any:
    raise ValueError(f"the schema refers to {uri}, which is not looked up")


def schema_problem(schema: Any) -> str | None:
    """Why a schema is not valid in its own dialect; none when it is."""
    try:
        jsonschema_rs.meta.validate(schema)
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
