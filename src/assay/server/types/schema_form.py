"""The form of generated JSON Schemas: few definitions, a type beside every choice, choices in their order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

Schema = dict[str, Any]

REFERENCE: Final = "#/$defs/"
_MAPS: Final = ("properties", "patternProperties", "dependentSchemas", "$defs")
_LISTS: Final = ("anyOf", "oneOf", "allOf", "prefixItems")
_SINGLE: Final = ("items", "additionalProperties", "propertyNames", "contains", "not", "if", "then", "else")
_ABOUT: Final = frozenset({"title", "description", "default", "examples", "deprecated"})
_TYPES: Final = {str: "string", bool: "boolean", int: "integer", float: "number", type(None): "null"}


def tidy(root: Schema, definitions: dict[str, Schema], orders: Mapping[tuple[Any, ...], list[Any]]) -> Schema:
    """A schema with its root inlined, and under `$defs` only what is used more than once.

    Args:
        root: The schema.
        definitions: What it refers to. Schemas in both may bring definitions of their own.
        orders: Choices in the order of their declaration, by the same choices in order of their text.
    """
    definitions = dict(definitions)
    for body in (root, *definitions.copy().values()):
        _hoist(body, definitions)
    for body in (root, *definitions.values()):
        for schema in _within(body):
            _complete_choices(schema, orders)
            # A keyword of OpenAPI, which would keep what it names under `$defs`.
            schema.pop("discriminator", None)
    return _with_few_definitions(root, definitions)


def _subschemas(schema: Schema) -> Iterator[Schema]:
    inner = [value for key in _MAPS for value in schema.get(key, {}).values()]
    inner += [value for key in _LISTS for value in schema.get(key, ())]
    inner += [schema[key] for key in _SINGLE if key in schema]
    return (value for value in inner if isinstance(value, dict))


def _within(schema: Schema) -> Iterator[Schema]:
    """The schema and every schema in it."""
    yield schema
    for inner in _subschemas(schema):
        yield from _within(inner)


def _hoist(body: Schema, definitions: dict[str, Schema]) -> None:
    """Move definitions out of nested schemas: references start from the root. Different definitions with
    one name get a name each."""
    for schema in list(_within(body)):
        own: dict[str, Schema] = schema.pop("$defs", {})
        names = {name: _free_name(name, inner, definitions) for name, inner in own.items()}
        for part in (schema, *own.values()):
            _rename(part, names)
        definitions.update((names[name], inner) for name, inner in own.items())
        for inner in own.values():
            _hoist(inner, definitions)


def _free_name(name: str, body: Schema, definitions: Mapping[str, Schema]) -> str:
    free, number = name, 1
    while free in definitions and definitions[free] != body:
        number += 1
        free = f"{name}_{number}"
    return free


def _rename(body: Schema, names: Mapping[str, str]) -> None:
    if all(name == new for name, new in names.items()):
        return
    for schema in _within(body):
        name = _target(schema)
        if name is not None and name in names:
            schema["$ref"] = REFERENCE + names[name]


def _target(schema: Schema) -> str | None:
    reference = schema.get("$ref")
    return reference.removeprefix(REFERENCE) if isinstance(reference, str) else None


def _complete_choices(schema: Schema, orders: Mapping[tuple[Any, ...], list[Any]]) -> None:
    """Add the type of choices, which some clients need, and restore their order, which msgspec sorts."""
    choices = schema.get("enum")
    if isinstance(choices, list):
        schema["enum"] = choices = orders.get(tuple(sorted(choices, key=str)), choices)
    elif "const" in schema:
        choices = [schema["const"]]
    if isinstance(choices, list) and "type" not in schema:
        types = list(dict.fromkeys(_TYPES[type(choice)] for choice in choices if type(choice) in _TYPES))
        if types:
            schema["type"] = types[0] if len(types) == 1 else types


def _with_few_definitions(root: Schema, definitions: Mapping[str, Schema]) -> Schema:
    uses = _count_uses(root, definitions)
    once = {name for name, count in uses.items() if count == 1 and name in definitions}

    def inline(schema: Schema) -> Schema:
        schema = _map_subschemas(schema, inline)
        return _merged(schema, inline(definitions[name])) if (name := _target(schema)) in once else schema

    root = inline(root)
    rest = {name: inline(definitions[name]) for name in uses if name not in once and name in definitions}
    name = _target(root)
    if name in rest:
        root = _merged(root, rest[name])
        if name not in _count_uses(root, rest):
            del rest[name]
    return {**root, "$defs": rest} if rest else root


def _count_uses(root: Schema, definitions: Mapping[str, Schema]) -> Counter[str]:
    """How often each definition is referred to, by what can be reached from the root."""
    uses: Counter[str] = Counter()
    waiting = [root]
    while waiting:
        for schema in _within(waiting.pop()):
            name = _target(schema)
            if name is None:
                continue
            uses[name] += 1
            if uses[name] == 1 and name in definitions:
                waiting.append(definitions[name])
    return uses


def _map_subschemas(schema: Schema, change: Callable[[Schema], Schema]) -> Schema:
    def changed(value: Any) -> Any:
        return change(value) if isinstance(value, dict) else value

    result = dict(schema)
    for key in schema:
        if key in _MAPS:
            result[key] = {name: changed(value) for name, value in schema[key].items()}
        elif key in _LISTS:
            result[key] = [changed(value) for value in schema[key]]
        elif key in _SINGLE:
            result[key] = changed(schema[key])
    return result


def _merged(schema: Schema, definition: Schema) -> Schema:
    """A definition in the place of a reference to it."""
    beside = {key: value for key, value in schema.items() if key != "$ref"}
    if "enum" in definition:
        # The name of the class adds nothing to its choices.
        definition = {key: value for key, value in definition.items() if key != "title"}
    if beside.keys() & definition.keys() <= _ABOUT:
        return {**definition, **beside}
    return {**beside, "allOf": [definition, *beside.get("allOf", ())]}
