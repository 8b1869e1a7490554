"""Arguments for a tool or prompt, derived from its definition: small, plain and deterministic."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, Final

DEEPEST: Final = 8


def arguments_for(tool: dict[str, Any]) -> dict[str, Any]:
    """The required arguments of a tool, with values that its schema should accept."""
    schema = tool.get("inputSchema")
    arguments = value_for(schema) if isinstance(schema, dict) else {}
    return arguments if isinstance(arguments, dict) else {}


def invalid_arguments(tool: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Arguments that the tool's schema rejects, with one fault each: a required argument is missing, has a
    wrong type, or is not one of the enumerated values. Values that a server might coerce are not tried, nor
    arguments that are mirrored in a header."""
    valid = arguments_for(tool)
    schema = tool.get("inputSchema")
    properties = schema.get("properties") if isinstance(schema, dict) else None
    for name in list(valid)[:1]:
        yield {key: value for key, value in valid.items() if key != name}
    plain = {
        name: part
        for name, part in (properties if isinstance(properties, dict) else {}).items()
        if isinstance(part, dict) and "x-mcp-header" not in part
    }
    for name in [name for name, part in plain.items() if part.get("type") in _SCALARS][:1]:
        yield {**valid, name: {"of": "the lab"}}
    for name in [name for name, part in plain.items() if _is_string_enum(part)][:1]:
        yield {**valid, name: "not-offered-by-the-schema"}


def _is_string_enum(schema: dict[str, Any]) -> bool:
    values = schema.get("enum")
    return isinstance(values, list) and all(isinstance(value, str) for value in values)


def prompt_arguments(prompt: dict[str, Any]) -> dict[str, str]:
    """The required arguments of a prompt: a URI for names like `url`, a word for others."""
    names = required_names(prompt)
    return {name: _FORMATS["uri"] if _URI_LIKE.search(name) else "assay" for name in names}


def required_names(prompt: dict[str, Any]) -> list[str]:
    arguments = prompt.get("arguments")
    return [
        argument["name"]
        for argument in (arguments if isinstance(arguments, list) else [])
        if isinstance(argument, dict)
        and argument.get("required") is True
        and isinstance(argument.get("name"), str)
    ]


def value_for(schema: Any, depth: int = 0) -> Any:
    """A value for a schema: its const, default, enum or example, else a minimal value of its type."""
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


_SCALARS: Final = ("string", "integer", "number", "boolean")
_URI_LIKE: Final = re.compile(r"ur[il]", re.IGNORECASE)
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
