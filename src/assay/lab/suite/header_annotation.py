"""`x-mcp-header` in the schemas of tools: where it stands, and on what."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from msgspec import Struct

from assay.lab.harness.need import Need

KEYWORD: Final = "x-mcp-header"
DEEPEST: Final = 32


# Where schemas stand inside a schema. Anything else there is data, and may hold what it likes.
BY_NAME: Final = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")
IN_LISTS: Final = ("allOf", "anyOf", "oneOf", "prefixItems", "items")
SINGLE: Final = (
    "items",
    "additionalProperties",
    "contains",
    "propertyNames",
    "not",
    "if",
    "then",
    "else",
    "unevaluatedItems",
    "unevaluatedProperties",
)
Path = tuple[str, ...]


class Annotation(Struct, frozen=True):
    value: Any
    path: Path
    """Names of properties from the root of the arguments; what it passes through otherwise is in `via`."""
    schema: dict[str, Any]
    via: str = ""
    """The first step from the root that is no property; empty if it can be reached."""

    @property
    def header(self) -> str:
        return f"Mcp-Param-{self.value}"

    @property
    def types(self) -> tuple[Any, ...]:
        given = self.schema.get("type")
        return tuple(given) if isinstance(given, list) else () if given is None else (given,)


def annotations_of(tool: dict[str, Any]) -> list[Annotation]:
    schema = tool.get("inputSchema")
    if not isinstance(schema, dict):
        return []
    at_root = [Annotation(schema[KEYWORD], (), schema, via="the root")] if KEYWORD in schema else []
    return [*at_root, *_below(schema, (), "", 0)]


def _below(schema: dict[str, Any], path: Path, via: str, depth: int) -> Iterator[Annotation]:
    if depth > DEEPEST:
        return
    for keyword, name, part in _parts(schema):
        step = via or ("" if keyword == "properties" else keyword)
        below = (*path, name) if keyword == "properties" else path
        if KEYWORD in part:
            yield Annotation(part[KEYWORD], below, part, step)
        yield from _below(part, below, step, depth + 1)


def _parts(schema: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    for keyword in BY_NAME:
        named = schema.get(keyword)
        for name, part in (named if isinstance(named, dict) else {}).items():
            if isinstance(part, dict):
                yield keyword, name, part
    for keyword in IN_LISTS:
        members = schema.get(keyword)
        for part in members if isinstance(members, list) else []:
            if isinstance(part, dict):
                yield keyword, "", part
    for keyword in SINGLE:
        if isinstance(part := schema.get(keyword), dict):
            yield keyword, "", part


def value_at(arguments: Any, path: Path) -> Any:
    """What the arguments hold at a path; none where they hold nothing or null."""
    for name in path:
        arguments = arguments.get(name) if isinstance(arguments, dict) else None
    return arguments


def usable(tool: dict[str, Any]) -> list[Annotation]:
    """Those on parameters at the root, which the lab can set in a call."""
    found = annotations_of(tool)
    return [one for one in found if isinstance(one.value, str) and len(one.path) == 1 and not one.via]


A_HEADER = Need(
    lambda facts: any(annotations_of(tool) for tool in facts.tools), f"marks no parameter with `{KEYWORD}`"
)
A_READ_ONLY_HEADER = Need(
    lambda facts: any(usable(tool) for tool in facts.read_only_tools),
    f"has no tool that only reads and marks a parameter with `{KEYWORD}`",
)
