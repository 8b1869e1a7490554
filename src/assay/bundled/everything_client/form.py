"""Fills the forms of `elicitation/create` without a person."""

from __future__ import annotations

from typing import Any, Final

from assay import ElicitationRequest

EXAMPLES: Final = {
    "email": "ada@example.org",
    "uri": "https://example.org/",
    "date": "2001-02-03",
    "date-time": "2001-02-03T04:05:06Z",
}


def fill(request: ElicitationRequest) -> dict[str, Any]:
    """The content for a form, whose fields get their defaults, or else values that their schemas allow."""
    return values_for(request.requested_schema or {})


def values_for(schema: dict[str, Any]) -> dict[str, Any]:
    return {name: _value(field) for name, field in schema.get("properties", {}).items()}


def _value(field: dict[str, Any]) -> Any:
    if "default" in field:
        return field["default"]
    titled = [choice["const"] for choice in field.get("oneOf", field.get("anyOf", ()))]
    if choices := field.get("enum", titled):
        return choices[0]
    match field.get("type"):
        case "boolean":
            return True
        case "integer" | "number":
            return field.get("minimum", min(1, field.get("maximum", 1)))
        case "array":
            return [_value(field.get("items", {}))] * field.get("minItems", 1)
    text = EXAMPLES.get(field.get("format", ""), "text")
    return text.ljust(field.get("minLength", 0), "x")[: field.get("maxLength")]
