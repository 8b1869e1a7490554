"""JSON Schemas of servers, as far as a terminal needs them: what a value should be, and text as such a value.

Schemas come from servers, so everything is bounded: references are followed within the schema only, and
patterns, which could take for ever, are left to the server.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any, Final

import msgspec

REFERENCES: Final = 16
"""References and alternatives that are followed in a row."""
DEPTH: Final = 2
"""Alternatives and items within others."""
CHOICES: Final = 12
"""Allowed values that a description names."""
CHARACTERS: Final = 60
"""Of a value in a description."""
_INTEGER: Final = re.compile(r"[+-]?\d{1,400}")
_NUMBER: Final = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,4})?")
_FORMATS: Final = {
    "email": re.compile(r"[^@\s]{1,64}@[^@\s]{1,255}"),
    "uri": re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:\S+"),
    "date": re.compile(r"\d{4}-\d\d-\d\d"),
    "date-time": re.compile(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)"),
}


class Misfit(ValueError):
    """A text or value does not fit its schema. The message completes "must be …"."""


def resolve(schema: Any, root: Any) -> Mapping[str, Any]:
    """The schema behind references within `root`. A schema that cannot be read accepts everything."""
    for _ in range(REFERENCES):
        if not isinstance(schema, dict):
            return {}
        if isinstance(reference := schema.get("$ref"), str):
            schema = _referenced(reference, root)
        elif isinstance(parts := schema.get("allOf"), list) and len(parts) == 1:
            schema = {**{key: schema[key] for key in schema if key != "allOf"}, **resolve(parts[0], root)}
        else:
            return schema
    return {}


def _referenced(reference: str, root: Any) -> Any:
    if not reference.startswith("#/"):
        return {}
    for part in reference[2:].split("/")[:REFERENCES]:
        name = part.replace("~1", "/").replace("~0", "~")
        if not isinstance(root, dict) or name not in root:
            return {}
        root = root[name]
    return root


def properties(schema: Any, root: Any) -> dict[str, Any]:
    entries = resolve(schema, root).get("properties")
    return entries if isinstance(entries, dict) else {}


def required(schema: Mapping[str, Any]) -> Collection[str]:
    """In their order; quick to look in, however many there are."""
    names = schema.get("required")
    return dict.fromkeys(name for name in names if isinstance(name, str)) if isinstance(names, list) else {}


def choices(schema: Mapping[str, Any]) -> list[tuple[Any, str]] | None:
    """The allowed values and their titles, if the schema lists them: `enum`, `const`, or `oneOf` of these."""
    if isinstance(values := schema.get("enum"), list):
        names = schema.get("enumNames")
        titles = names if isinstance(names, list) and len(names) == len(values) else values
        return [(value, str(title)) for value, title in zip(values, titles, strict=True)]
    if "const" in schema:
        return [(schema["const"], str(schema.get("title", schema["const"])))]
    options = schema.get("oneOf") or schema.get("anyOf")
    if isinstance(options, list) and all(isinstance(item, dict) and "const" in item for item in options):
        return [(item["const"], str(item.get("title", item["const"]))) for item in options]
    return None


def alternatives(schema: Mapping[str, Any], root: Any) -> list[Mapping[str, Any]]:
    """The schemas of which a value must fit one; types that read any text come last."""
    types = schema.get("type")
    options = schema.get("anyOf") or schema.get("oneOf")
    if isinstance(types, list):
        options = [{**schema, "type": kind} for kind in types]
    elif not isinstance(options, list) or types is not None:
        return [schema]
    resolved = [resolve(item, root) for item in options[:REFERENCES]]
    return sorted(resolved, key=lambda item: _kind(item) in ("string", ""))


def _kind(schema: Mapping[str, Any]) -> str:
    kind = schema.get("type")
    if isinstance(kind, str):
        return kind
    return "object" if "properties" in schema else "array" if "items" in schema else ""


# Descriptions.


def describe(schema: Any, root: Any, depth: int = DEPTH) -> str:
    """What a value should be, in a few words: `integer from 1`, `a | b`, `array of string`."""
    schema = resolve(schema, root)
    listed = choices(schema)
    if listed is not None:
        names = [_short(value) for value, _ in listed[:CHOICES]]
        return " | ".join([*names, *(["…"] if len(listed) > CHOICES else [])])
    options = alternatives(schema, root)
    if len(options) > 1:
        return _cut(" or ".join(describe(item, root, depth - 1) for item in options)) if depth else "value"
    kind = _kind(schema) or "any value"
    if kind == "array" and "items" in schema and depth:
        kind = f"array of {describe(schema['items'], root, depth - 1)}"
    return _cut(" ".join([kind, *_limits_of(schema)]))


def _cut(text: str) -> str:
    return text if len(text) <= 4 * CHARACTERS else f"{text[: 4 * CHARACTERS]}…"


def _short(value: Any) -> str:
    text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
    return text if len(text) <= CHARACTERS else f"{text[:CHARACTERS]}…"


def _limits_of(schema: Mapping[str, Any]) -> Iterator[str]:
    for key, text in _LIMIT_TEXTS.items():
        if isinstance(limit := schema.get(key), int | float) and not isinstance(limit, bool):
            yield text.format(f"{limit:g}" if isinstance(limit, float) else limit)
    if isinstance(kind := schema.get("format"), str):
        yield f"({kind[:CHARACTERS]})"


_LIMIT_TEXTS: Final = {
    "minimum": "from {}",
    "exclusiveMinimum": "above {}",
    "maximum": "to {}",
    "exclusiveMaximum": "below {}",
    "minLength": "of at least {} characters",
    "maxLength": "of at most {} characters",
    "minItems": "with at least {} items",
    "maxItems": "with at most {} items",
}
_LIMITS: Final[dict[str, Callable[[Any, Any], bool]]] = {
    "minimum": lambda value, limit: value >= limit,
    "exclusiveMinimum": lambda value, limit: value > limit,
    "maximum": lambda value, limit: value <= limit,
    "exclusiveMaximum": lambda value, limit: value < limit,
    "minLength": lambda value, limit: len(value) >= limit,
    "maxLength": lambda value, limit: len(value) <= limit,
    "minItems": lambda value, limit: len(value) >= limit,
    "maxItems": lambda value, limit: len(value) <= limit,
}
_NUMBER_TYPES: Final = (int, float)
_LIMITED: Final[dict[str, Any]] = {
    **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"), _NUMBER_TYPES),
    **dict.fromkeys(("minLength", "maxLength"), str),
    **dict.fromkeys(("minItems", "maxItems"), list),
}


# Values.


def read_value(text: str, schema: Any, root: Any) -> Any:
    """A text as a value of the schema's type.

    Raises:
        Misfit: it cannot be one.
    """
    try:
        return _read(text, schema, root, DEPTH)
    except Misfit as error:
        raise Misfit(str(error) or expectation(schema, root)) from None


def expectation(schema: Any, root: Any) -> str:
    listed = choices(resolve(schema, root))
    return f"{'' if listed is None else 'one of: '}{describe(schema, root)}"


def _read(text: str, schema: Any, root: Any, depth: int) -> Any:
    """Raises a `Misfit` without a text where the schema itself says enough: to describe it costs time."""
    schema = resolve(schema, root)
    listed = choices(schema)
    if listed is not None:
        return _choice(text, listed)
    options = alternatives(schema, root)
    if len(options) == 1:
        kind = _kind(schema)
        value = _READERS[kind if kind in _READERS else ""](text, schema, root, depth)
        if kind != "array" or text.lstrip().startswith("["):  # one item may be followed by further ones
            check_limits(value, schema)
        return value
    for option in options if depth else ():
        try:
            return _read(text, option, root, depth - 1)
        except Misfit:
            continue
    raise Misfit


def _choice(text: str, listed: list[tuple[Any, str]]) -> Any:
    for value, title in listed:
        if text in (value, title) or (not isinstance(value, str) and text == _short(value)):
            return value
    raise Misfit


def check_limits(value: Any, schema: Mapping[str, Any]) -> None:
    """
    Raises:
        Misfit: a limit or the format of the schema is not met.
    """
    for key, holds in _LIMITS.items():
        limit, kind = schema.get(key), _LIMITED[key]
        if not isinstance(limit, int | float) or isinstance(limit, bool) or isinstance(value, bool):
            continue
        if isinstance(value, kind) and not holds(value, limit):
            raise Misfit
    form = _FORMATS.get(str(schema.get("format")))
    if form is not None and isinstance(value, str) and not form.fullmatch(value):
        raise Misfit


def _string(text: str, *context: Any) -> str:
    return text


def _integer(text: str, *context: Any) -> int:
    if not _INTEGER.fullmatch(text):
        raise Misfit
    return int(text)


def _number(text: str, *context: Any) -> float:
    if _INTEGER.fullmatch(text):
        return int(text)
    if not _NUMBER.fullmatch(text) or not math.isfinite(value := float(text)):
        raise Misfit
    return value


def _boolean(text: str, *context: Any) -> bool:
    values = {"true": True, "false": False, "yes": True, "no": False, "1": True, "0": False}
    if text.lower() not in values:
        raise Misfit("a boolean: true or false")
    return values[text.lower()]


def _null(text: str, *context: Any) -> None:
    if text != "null":
        raise Misfit


def _array(text: str, schema: Mapping[str, Any], root: Any, depth: int) -> list[Any]:
    """A JSON array, or else one item; repeating the argument adds further ones."""
    if text.lstrip().startswith("["):
        value = read_json(text)
        if isinstance(value, list):
            return value
    if not depth:
        raise Misfit
    return [_read(text, schema.get("items", {}), root, depth - 1)]


def _object(text: str, *context: Any) -> dict[str, Any]:
    value = read_json(text)
    if not isinstance(value, dict):
        raise Misfit("an object, in JSON")
    return value


def _any(text: str, *context: Any) -> Any:
    try:
        return read_json(text)
    except Misfit:
        return text


_READERS: Final[dict[str, Callable[[str, Mapping[str, Any], Any, int], Any]]] = {
    "string": _string,
    "integer": _integer,
    "number": _number,
    "boolean": _boolean,
    "null": _null,
    "array": _array,
    "object": _object,
    "": _any,
}


def read_json(text: str | bytes) -> Any:
    """
    Raises:
        Misfit: it is not JSON.
    """
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError, UnicodeEncodeError) as error:
        raise Misfit(f"JSON: {error}") from None
