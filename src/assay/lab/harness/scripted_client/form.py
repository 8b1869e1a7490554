"""Content for the forms of elicitation requests."""

from __future__ import annotations

from typing import Any, Final

PLAUSIBLE: Final = {
    "email": "ada@example.org",
    "uri": "https://example.org/",
    "date": "2001-02-03",
    "date-time": "2001-02-03T04:05:06Z",
}


def form_content(schema: Any, *, defaults: bool = True) -> dict[str, Any]:
    """A value for every field: its default, else a value that its schema allows."""
    properties = schema.get("properties") if isinstance(schema, dict) else None
    known = properties if isinstance(properties, dict) else {}
    return {name: _value(field, defaults) for name, field in known.items() if isinstance(field, dict)}


def _value(field: dict[str, Any], defaults: bool) -> Any:
    if defaults and "default" in field:
        return field["default"]
    if choices := _choices(field):
        return choices[0]
    match field.get("type"):
        case "boolean":
            return True
        case "integer" | "number":
            most = min(1, field.get("maximum", 1))
            return max(field.get("minimum", most), most)
        case "array":
            return _values(field)
    text = PLAUSIBLE.get(str(field.get("format")), "plausible")
    return text.ljust(field.get("minLength", 0), "x")[: field.get("maxLength")]


def _choices(field: dict[str, Any]) -> list[Any]:
    titled = field.get("oneOf") or field.get("anyOf") or ()
    constants = [option["const"] for option in titled if isinstance(option, dict) and "const" in option]
    return field.get("enum") or constants


def _values(field: dict[str, Any]) -> list[Any]:
    items = field.get("items")
    items = items if isinstance(items, dict) else {}
    count = max(1, field.get("minItems", 1))
    return (_choices(items) or [_value(items, False)] * count)[:count]
