"""Values for a JSON Schema: valid ones, and ones with a single fault."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from assay.lab.harness.driver.argument import value_for
from assay.lab.harness.trace.json_schema import value_problem

from .choice import Choices
from .odd_value import TEXTS, odd_value, plain_value

DEEPEST: Final = 4
MOST: Final = 3
SMALL: Final = 10
Json = dict[str, Any]


def fitting(choices: Choices, schema: Any) -> Any:
    """A value that the schema accepts; the simplest one if the generated value is invalid."""
    value = _value(choices, schema, schema, 0)
    return value if _fits(value, schema) else value_for(schema)


def is_refused(value: Any, schema: Any) -> bool:
    """Whether a server that validates arguments refuses the value without running the tool."""
    return not isinstance(value, dict) or not _fits(value, schema)


def _fits(value: Any, schema: Any) -> bool:
    try:
        return value_problem(value, schema) is None
    except ValueError:
        return False  # the validator rejects lone surrogates


def near_miss(choices: Choices, schema: Any) -> Any:
    """The simplest valid value with a single change, which is a fault if the schema forbids it."""
    valid = value_for(schema)
    if not isinstance(valid, dict) or not valid:
        return odd_value(choices)
    name = choices.pick(sorted(valid))
    change = choices.pick(("drop", "odd", "add"))
    if change == "drop":
        return {key: value for key, value in valid.items() if key != name}
    return {**valid, name if change == "odd" else "of the lab": odd_value(choices)}


def _value(choices: Choices, schema: Any, root: Any, depth: int) -> Any:
    schema = _resolved(schema, root)
    if not isinstance(schema, dict) or depth > DEEPEST:
        return None
    if "const" in schema:
        return schema["const"]
    if isinstance(schema.get("enum"), list) and schema["enum"]:
        return choices.pick(schema["enum"])
    for key in ("anyOf", "oneOf", "allOf"):
        if isinstance(schema.get(key), list) and schema[key]:
            return _value(choices, choices.pick(schema[key]), root, depth + 1)
    make = _MAKERS.get(_type(choices, schema))
    return plain_value(choices) if make is None else make(choices, schema, root, depth)


def _resolved(schema: Any, root: Any) -> Any:
    reference = schema.get("$ref") if isinstance(schema, dict) else None
    if not isinstance(reference, str) or not reference.startswith("#/"):
        return schema
    at = root
    for part in reference[2:].split("/"):
        at = at.get(part) if isinstance(at, dict) else None
    return at


def _type(choices: Choices, schema: Json) -> str:
    kind = schema.get("type", "object" if "properties" in schema else "")
    return str(choices.pick(kind)) if isinstance(kind, list) and kind else str(kind)


def _object(choices: Choices, schema: Json, root: Any, depth: int) -> Json:
    known = schema.get("properties")
    required = schema.get("required")
    names = required if isinstance(required, list) else []
    parts = known if isinstance(known, dict) else {}
    return {
        name: _value(choices, part, root, depth + 1)
        for name, part in parts.items()
        if name in names or choices.chance(2)
    }


def _array(choices: Choices, schema: Json, root: Any, depth: int) -> list[Any]:
    least = _whole(schema.get("minItems"), 0)
    most = max(least, min(_whole(schema.get("maxItems"), least + MOST), least + MOST))
    part = schema.get("items", {"type": "string"})
    return [_value(choices, part, root, depth + 1) for _ in range(least + choices.count(most - least))]


def _string(choices: Choices, schema: Json, root: Any, depth: int) -> Any:
    if "format" in schema or "pattern" in schema:
        return value_for(schema)
    text = choices.pick(TEXTS)
    least, most = _whole(schema.get("minLength"), 0), _whole(schema.get("maxLength"), len(text))
    return text.ljust(min(least, 1000), "a")[: max(most, 0)]


def _integer(choices: Choices, schema: Json, root: Any, depth: int) -> int:
    # Small numbers where the schema sets no bound: a large number of steps or seconds would block a tool.
    least, most = _whole(schema.get("minimum"), -SMALL), _whole(schema.get("maximum"), SMALL)
    options = (0, 1, -1, least, most, least + 1, most - 1)
    return choices.pick([number for number in options if least <= number <= most] or [least])


def _number(choices: Choices, schema: Json, root: Any, depth: int) -> float:
    whole = _integer(choices, schema, root, depth)
    return whole + 0.5 if choices.chance(2) else whole


def _boolean(choices: Choices, schema: Json, root: Any, depth: int) -> bool:
    return choices.chance(2)


def _null(choices: Choices, schema: Json, root: Any, depth: int) -> None:
    return None


def _whole(value: Any, default: int) -> int:
    return value if type(value) is int else default


_MAKERS: Final[dict[str, Callable[[Choices, Json, Any, int], Any]]] = {
    "object": _object,
    "array": _array,
    "string": _string,
    "integer": _integer,
    "number": _number,
    "boolean": _boolean,
    "null": _null,
}
