"""Arguments for a tool or prompt, made from what it publishes: small, plain and always the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

DEEPEST: Final = 8


def arguments_for(tool: dict[str, Any]) -> dict[str, Any]:
    """The required arguments of a tool, with values that its schema should accept."""
    schema = tool.get("inputSchema")
    made = value_for(schema) if isinstance(schema, dict) else {}
    return made if isinstance(made, dict) else {}


def value_for(schema: Any, depth: int = 0) -> Any:
    """A value for a schema: what it suggests itself, else the smallest of its type."""
    if not isinstance(schema, dict) or depth > DEEPEST:
        return None
    for key in ("const", "default"):
        if key in schema:
            return schema[key]
    for key in ("enum", "examples"):
        if isinstance(schema.get(key), list) and schema[key]:
            return schema[key][0]
    for key in ("anyOf", "oneOf", "allOf"):
        if isinstance(schema.get(key), list) and schema[key]:
            return value_for(schema[key][0], depth + 1)
    make = _MAKERS.get(_type(schema))
    return make(schema, depth) if make is not None else None


def _type(schema: dict[str, Any]) -> str:
    kind = schema.get("type", "object" if "properties" in schema else "null")
    return str(kind[0]) if isinstance(kind, list) and kind else str(kind)


def _object(schema: dict[str, Any], depth: int) -> dict[str, Any]:
    properties = schema.get("properties")
    required = schema.get("required")
    known = properties if isinstance(properties, dict) else {}
    names = required if isinstance(required, list) else []
    return {name: value_for(known.get(name, {"type": "string"}), depth + 1) for name in names}


def _array(schema: dict[str, Any], depth: int) -> list[Any]:
    least = _whole(schema.get("minItems"))
    return [value_for(schema.get("items", {"type": "string"}), depth + 1) for _ in range(min(least, 10))]


def _string(schema: dict[str, Any], depth: int) -> str:
    text = _FORMATS.get(str(schema.get("format")), "assay")
    padded = text.ljust(min(_whole(schema.get("minLength")), 1000), "a")
    longest = schema.get("maxLength")
    return padded[: max(longest, 0)] if isinstance(longest, int) else padded


def _number(schema: dict[str, Any], depth: int) -> Any:
    if "exclusiveMinimum" in schema and isinstance(schema["exclusiveMinimum"], int | float):
        return schema["exclusiveMinimum"] + 1
    return next((schema[key] for key in ("minimum", "maximum") if key in schema), 1)


def _boolean(schema: dict[str, Any], depth: int) -> bool:
    return False


def _whole(value: Any) -> int:
    return value if isinstance(value, int) else 0


_MAKERS: Final[dict[str, Callable[[dict[str, Any], int], Any]]] = {
    "object": _object,
    "array": _array,
    "string": _string,
    "number": _number,
    "integer": _number,
    "boolean": _boolean,
}
_FORMATS: Final = {
    "date": "2000-01-01",
    "date-time": "2000-01-01T00:00:00Z",
    "time": "00:00:00Z",
    "email": "lab@assay.example",
    "uri": "https://assay.example/",
    "uuid": "00000000-0000-4000-8000-000000000000",
}
