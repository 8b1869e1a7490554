"""A form in the terminal: field by field, with types, defaults and choices, until each value fits."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping
from typing import Any, Final

import msgspec

from assay.cli.output.stream import say, say_lines

from .schema import Misfit, choices, describe, properties, read_value, required, resolve

FIELDS: Final = 50
"""Fields of a form that are asked for; a larger one is cancelled."""
ATTEMPTS: Final = 20
"""Wrong values of one field, before the form is cancelled."""
CHARACTERS: Final = 500
"""Of a description."""
LISTED: Final = 30
Ask = Callable[[str], Awaitable[str | None]]
LEFT_OUT: Final = object()


class Cancelled(Exception):
    """The user ended the input, or gave up."""


async def fill(schema: Any, ask: Ask) -> dict[str, Any]:
    """The content of a form.

    Raises:
        Cancelled: the user ended the input, or the form is too large.
    """
    fields = properties(schema, schema)
    if len(fields) > FIELDS:
        say(f"cancelled: the form has {len(fields)} fields, and at most {FIELDS} are asked for")
        raise Cancelled
    needed = required(resolve(schema, schema))
    content = {}
    for name, field in fields.items():
        value = await _field(name, resolve(field, schema), name in needed, ask)
        if value is not LEFT_OUT:
            content[name] = value
    return content


async def _field(name: str, schema: Mapping[str, Any], needed: bool, ask: Ask) -> Any:
    say_lines(_explanation(name, schema, needed))
    for _ in range(ATTEMPTS):
        line = await ask(f"  {name}{_default(schema)}:")
        if line is None:
            raise Cancelled
        if not line.strip():
            if "default" in schema:
                return schema["default"]
            if not needed:
                return LEFT_OUT
            if schema.get("type") != "string" or schema.get("minLength"):
                say("  a value is required")
                continue
        try:
            return _read(line, schema)
        except Misfit as error:
            say(f"  it must be {error}")
    raise Cancelled


def _read(line: str, schema: Mapping[str, Any]) -> Any:
    if _is_multiple(schema):
        items = [item.strip() for item in line.split(",") if item.strip()]
        return read_value(
            msgspec.json.encode([_pick(item, schema["items"]) for item in items]).decode(), schema, {}
        )
    return _pick(line.strip() if schema.get("type") != "string" else line, schema)


def _pick(text: str, schema: Any) -> Any:
    """The value, or the choice with this number."""
    listed = choices(resolve(schema, {}))
    is_number = listed is not None and text.isdecimal() and len(text) < 5
    if listed is None or not is_number or any(value == text for value, _ in listed):
        return read_value(text, schema, {})
    return listed[int(text) - 1][0] if 0 < int(text) <= len(listed) else read_value(text, schema, {})


def _is_multiple(schema: Mapping[str, Any]) -> bool:
    return schema.get("type") == "array" and choices(resolve(schema.get("items"), {})) is not None


def _explanation(name: str, schema: Mapping[str, Any], needed: bool) -> Iterator[str]:
    title = schema.get("title")
    label = f"{title[:CHARACTERS]} ({name})" if isinstance(title, str) and title != name else name
    if _is_multiple(schema):
        listed, kind = choices(resolve(schema["items"], {})), "several of these, separated by commas"
    else:
        listed = choices(schema)
        kind = describe(schema, {}) if listed is None else "one of these"
    yield f"{label}: {kind}{'' if needed else ', optional'}"
    if isinstance(text := schema.get("description"), str):
        yield f"  {text[:CHARACTERS]}"
    for number, (value, title) in enumerate((listed or [])[:LISTED], 1):
        yield f"  {number}. {value}" if title == str(value) else f"  {number}. {value}: {title}"


def _default(schema: Mapping[str, Any]) -> str:
    if "default" not in schema:
        return ""
    value = schema["default"]
    text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
    return f" [{text[:CHARACTERS]}]"
