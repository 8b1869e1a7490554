"""Schemas of tools: what hosts and model APIs are known to refuse, and what only costs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from .rule import Problem, problem

COMBINATIONS: Final = ("oneOf", "anyOf", "allOf")
DEFINITIONS: Final = ("$defs", "definitions")
MOST_NODES: Final = 20_000
"""Of one schema; a larger one has been reported by its cost."""
MOST_DEPTH: Final = 100
_PROPERTY: Final = re.compile(r"[A-Za-z0-9_.-]{1,64}")
_SUBSCHEMAS: Final = (
    "items",
    "additionalProperties",
    "not",
    "if",
    "then",
    "else",
    "contains",
    "propertyNames",
)
_MAPS: Final = ("properties", "patternProperties", "dependentSchemas", *DEFINITIONS)
_LISTS: Final = (*COMBINATIONS, "prefixItems")
Node = tuple[str, dict[str, Any]]
"""A JSON Pointer, and the schema there."""


def schema_problems(item: str, tool: dict[str, Any]) -> Iterator[Problem]:
    schema = tool.get("inputSchema")
    if not isinstance(schema, dict):
        yield problem("schema-not-object", item, "`inputSchema` is missing", "/inputSchema")
        return
    combined = [word for word in COMBINATIONS if word in schema]
    if combined:
        words = ", ".join(f"`{word}`" for word in combined)
        yield problem(
            "schema-top-level", item, f"{words} at the top of `inputSchema`", f"/inputSchema/{combined[0]}"
        )
    for key in ("inputSchema", "outputSchema"):
        value = tool.get(key)
        if isinstance(value, dict) and value.get("type") != "object":
            kind = value.get("type")
            text = f"`{key}` has no type" if kind is None else f"the type of `{key}` is {kind!r}"
            yield problem("schema-not-object", item, text, f"/{key}/type")
        if isinstance(value, dict):
            yield from _definitions(item, f"/{key}", value)
    yield from _nodes_of_input(item, schema)


def _nodes_of_input(item: str, schema: dict[str, Any]) -> Iterator[Problem]:
    reference: str | None = None
    for place, node in nodes(schema, "/inputSchema"):
        if node.get("type") == "array" and not {"items", "prefixItems"} & node.keys():
            yield problem("schema-array-items", item, "an array without `items`", place)
        if isinstance(node.get("$ref"), str) and reference is None:
            reference = place
            yield problem("schema-reference", item, f"`$ref` to {node['$ref']}", place)
        for name in _names(node):
            if not _PROPERTY.fullmatch(name):
                yield problem("schema-property-name", item, f"parameter {name!r}", f"{place}/properties")


def _names(node: dict[str, Any]) -> Iterator[str]:
    properties = node.get("properties")
    return iter(properties) if isinstance(properties, dict) else iter(())


def _definitions(item: str, key: str, schema: dict[str, Any]) -> Iterator[Problem]:
    known = list(nodes(schema, key))
    references = [(place, node["$ref"]) for place, node in known if isinstance(node.get("$ref"), str)]
    for place, reference in references:
        if not reference.startswith("#"):
            yield problem("schema-external-reference", item, f"`$ref` to {reference}", place)
        elif _target(schema, reference) is None:
            yield problem("schema-broken-reference", item, f"`$ref` to {reference}", place)
        elif f"{place}/".startswith(f"{key}{reference[1:]}/"):
            yield problem("schema-recursive", item, f"`$ref` to {reference} inside of it", place)
    for group in DEFINITIONS:
        named = schema.get(group)
        for name in named if isinstance(named, dict) else ():
            own = f"{key}/{group}/{_escaped(name)}"
            target = f"#/{group}/{_escaped(name)}"
            if not any(
                reference == target or reference.startswith(f"{target}/")
                for place, reference in references
                if not f"{place}/".startswith(f"{own}/")
            ):
                yield problem("schema-unused-definition", item, f"`{name}` in `{group}`", own)


def _target(schema: dict[str, Any], reference: str) -> Any:
    value: Any = schema
    for part in reference.removeprefix("#").split("/")[1:]:
        name = part.replace("~1", "/").replace("~0", "~")
        if isinstance(value, list) and name.isdecimal() and int(name) < len(value):
            value = value[int(name)]
        elif isinstance(value, dict) and name in value:
            value = value[name]
        else:
            return None
    is_anchor = reference != "#" and not reference.startswith("#/")
    return None if is_anchor and not _has_anchor(schema, reference[1:]) else value


def _has_anchor(schema: dict[str, Any], name: str) -> bool:
    return any(node.get("$anchor") == name for _, node in nodes(schema, ""))


def nodes(schema: dict[str, Any], place: str) -> Iterator[Node]:
    """The schema and all schemas inside of it, as many as `MOST_NODES`."""
    waiting: list[tuple[str, Any, int]] = [(place, schema, 0)]
    for _ in range(MOST_NODES):
        if not waiting:
            return
        here, value, depth = waiting.pop()
        if not isinstance(value, dict) or depth > MOST_DEPTH:
            continue
        yield here, value
        waiting += ((inner, node, depth + 1) for inner, node in _inside(here, value))


def _inside(place: str, node: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    for key in _SUBSCHEMAS:
        if key in node:
            yield f"{place}/{key}", node[key]
    for key in _MAPS:
        if isinstance(node.get(key), dict):
            yield from ((f"{place}/{key}/{_escaped(name)}", inner) for name, inner in node[key].items())
    for key in _LISTS:
        if isinstance(node.get(key), list):
            yield from ((f"{place}/{key}/{index}", inner) for index, inner in enumerate(node[key]))


def _escaped(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")
