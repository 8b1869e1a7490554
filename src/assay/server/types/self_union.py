"""Unions that contain themselves, such as `Add | Mul` of models whose operands are `Add | Mul`.

Where nothing distinguishes the members, each level of a value is read once for each member, so that the work
is a power of the depth: 64 levels would take years. What a value may cost is therefore counted before.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

READS: Final = 1000
"""Times that the parts of a value may be read: 9 levels of a union of two members, or 6 of three."""
READS_FOR_REASON: Final = 50
"""The same, to find the reason why a value does not fit, which takes longer."""
SUBSCHEMAS: Final = ("anyOf", "oneOf")


class SelfUnion(NamedTuple):
    """How many members of a union may read an object or an array, where the union is part of them again."""

    objects: int
    arrays: int

    def costs_more(self, value: Any, most: int) -> bool:
        """Whether the parts of a value would be read more often than that."""
        return any(reads > most for reads in self._reads(value))

    def _reads(self, value: Any) -> Iterator[int]:
        """How often the parts of a value are read, added up so far."""
        total, waiting = 0, [(value, 1)]
        while waiting:
            part, times = waiting.pop()
            if not isinstance(part, dict | list):
                continue
            total += times
            yield total
            inner = times * (self.objects if isinstance(part, dict) else self.arrays)
            waiting += [(item, inner) for item in (part.values() if isinstance(part, dict) else part)]


def self_union(schema: Mapping[str, Any], *, tagged: bool) -> SelfUnion | None:
    """The widest union of a schema that contains itself; None if there is none.

    Args:
        schema: A JSON Schema.
        tagged: Whether to count unions that have a discriminator, too.
    """
    unions = [
        (node, choices)
        for node in _nodes(schema, schema)
        for choices in (node.get(word) for word in SUBSCHEMAS)
        if isinstance(choices, list) and (tagged or "discriminator" not in node)
    ]
    objects = arrays = 1
    for union, choices in unions:
        inner = [each for each in choices if any(node is union for node in _nodes(each, schema))]
        objects = max(objects, sum(_may_be(each, "object", schema) for each in inner))
        arrays = max(arrays, sum(_may_be(each, "array", schema) for each in inner))
    return SelfUnion(objects, arrays) if objects > 1 or arrays > 1 else None


def _nodes(start: Any, root: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The objects of a schema that can be reached from one of them, each once."""
    visited: set[int] = set()
    waiting = [start]
    while waiting:
        part = waiting.pop()
        if isinstance(part, list):
            waiting += part
        elif isinstance(part, Mapping) and id(part) not in visited:
            visited.add(id(part))
            yield part
            waiting += [_target(part, root), *(part[name] for name in part if name != "$defs")]


def _target(node: Mapping[str, Any], root: Mapping[str, Any]) -> Any:
    """What `$ref` refers to; None without one."""
    reference = node.get("$ref")
    if not isinstance(reference, str) or not reference.startswith("#"):
        return None
    target: Any = root
    for name in reference.split("/")[1:]:
        key = name.replace("~1", "/").replace("~0", "~")
        target = target.get(key) if isinstance(target, Mapping) else None
    return target


def _may_be(node: Any, kind: str, root: Mapping[str, Any]) -> bool:
    for _ in range(100):  # references to references; more cannot be meant
        target = _target(node, root) if isinstance(node, Mapping) else None
        if target is None:
            break
        node = target
    kinds = node.get("type") if isinstance(node, Mapping) else None
    return kinds is None or kind in (kinds if isinstance(kinds, list) else [kinds])
