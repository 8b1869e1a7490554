"""Values by a JSON Schema: some that fit, and some that nearly do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from assay.lab.harness.driver.argument import value_for
from assay.lab.harness.trace.json_schema import value_problem

from .choice import Choices
from .odd import TEXTS, odd_value, plain_value

DEEPEST: Final = 4
MOST: Final = 3
SMALL: Final = 10
Json = dict[str, Any]


def fitting(choices: Choices, schema: Any) -> Any:
    """A value that the schema accepts; where none was hit upon, the plainest that there is."""
    made = _value(choices, schema, schema, 0)
    return made if _fits(made, schema) else value_for(schema)


def is_refused(value: Any, schema: Any) -> bool:
    """Whether a server that keeps to its schema does nothing with it."""
    return not isinstance(value, dict) or not _fits(value, schema)


def _fits(value: Any, schema: Any) -> bool:
    try:
        return value_problem(value, schema) is None
    except ValueError:
        return False  # halves of surrogate pairs are no texts to the validator


def near_miss(choices: Choices, schema: Any) -> Any:
    """The plainest value that fits, but for one thing, as far as the schema has anything to miss."""
    made = value_for(schema)
    if not isinstance(made, dict) or not made:
        return odd_value(choices)
    name = choices.pick(sorted(made))
    how = choices.pick(("drop", "odd", "add"))
    if how == "drop":
        return {key: one for key, one in made.items() if key != name}
    return {**made, name if how == "odd" else "of the lab": odd_value(choices)}


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
    wanted = required if isinstance(required, list) else []
    parts = known if isinstance(known, dict) else {}
    return {
        name: _value(choices, part, root, depth + 1)
        for name, part in parts.items()
        if name in wanted or choices.chance(2)
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
    # Where there is no bound, small numbers: one of steps or seconds would else keep a tool busy for ever.
    least, most = _whole(schema.get("minimum"), -SMALL), _whole(schema.get("maximum"), SMALL)
    options = (0, 1, -1, least, most, least + 1, most - 1)
    return choices.pick([one for one in options if least <= one <= most] or [least])


def _number(choices: Choices, schema: Json, root: Any, depth: int) -> float:
    whole = _integer(choices, schema, root, depth)
    return whole + 0.5 if choices.chance(2) else whole


def _boolean(choices: Choices, schema: Json, root: Any, depth: int) -> bool:
    return choices.chance(2)


def _null(choices: Choices, schema: Json, root: Any, depth: int) -> None:
    return None


def _whole(value: Any, otherwise: int) -> int:
    return value if type(value) is int else otherwise


_MAKERS: Final[dict[str, Callable[[Choices, Json, Any, int], Any]]] = {
    "object": _object,
    "array": _array,
    "string": _string,
    "integer": _integer,
    "number": _number,
    "boolean": _boolean,
    "null": _null,
}
