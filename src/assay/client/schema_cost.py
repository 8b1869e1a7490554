"""How often parts of a JSON Schema are evaluated, at most: a schema of a few kilobytes can take years.

References make a graph of a schema, and each way through it is evaluated. Some parts apply to the value
itself (`anyOf`, `$ref`), others to its children (`properties`, `items`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from graphlib import CycleError, TopologicalSorter
from typing import Any, Final

from msgspec import Struct

SAME_VALUE: Final = ("not", "if", "then", "else", "allOf", "anyOf", "oneOf")
SAME_VALUE_BY_NAME: Final = ("dependentSchemas", "dependencies")
EACH_CHILD: Final = (
    *("items", "additionalItems", "additionalProperties", "contains", "propertyNames"),
    *("unevaluatedItems", "unevaluatedProperties"),
)
REPEATED: Final = frozenset({"anyOf", "oneOf", "not", "if"})
"""To say what does not fit, these are evaluated a second time."""
UNEVALUATED: Final = frozenset({"unevaluatedItems", "unevaluatedProperties"})
MOST_PATTERNS: Final = 200
BACKTRACKING_WEIGHT: Final = 2000
LOOK_AROUND: Final = ("(?=", "(?!", "(?<", "(?>", "(?(", *(f"\\{digit}" for digit in range(1, 10)))
"""What only patterns with backtracking have."""


class UnboundedSchema(ValueError):
    """The work of a schema cannot be bounded."""


class _Part(Struct):
    weight: int = 1
    same: list[int] = []
    """Parts that apply to the same value."""
    repeated: list[int] = []
    """Those of them that an explanation evaluates again."""
    each: list[int] = []
    """Parts that apply to each child."""
    named: list[int] = []
    """Parts of which at most one applies to a child."""


class SchemaCost:
    """The evaluations of a schema for values of each depth.

    Raises:
        UnboundedSchema: it refers outside itself, or to itself without an end, or has too many patterns.
    """

    def __init__(self, schema: Any) -> None:
        self._root = schema
        self._numbers: dict[int, int] = {}
        self._parts: list[_Part] = []
        self._unread: list[Any] = []
        self._anchors: dict[str, list[Any]] = {}
        self._patterns = 0
        self._number(schema)
        while self._unread:
            self._read(self._unread.pop())
        self._order = self._sort()
        self._plain = _Levels(self._parts, self._order, 1)
        self._explained = _Levels(self._parts, self._order, 2)

    def at_most(self, counts: list[int], explained: bool = False) -> float:
        """Evaluations for a value with so many nodes at each depth."""
        levels = self._explained if explained else self._plain
        return sum(count * levels.at(depth) for depth, count in enumerate(counts))

    def per_node(self, depth: int) -> float:
        return max(self._plain.at(level) for level in range(depth + 1))

    # The graph.

    def _number(self, schema: Any) -> int:
        key = id(schema)
        if key not in self._numbers:
            self._numbers[key] = len(self._parts)
            self._parts.append(_Part())
            self._unread.append(schema)
        return self._numbers[key]

    def _numbers_of(self, schemas: Iterable[Any]) -> list[int]:
        return [self._number(schema) for schema in schemas if isinstance(schema, dict)]

    def _read(self, schema: Any) -> None:
        if not isinstance(schema, dict):
            return
        part = self._parts[self._numbers[id(schema)]]
        part.weight = self._weigh(schema)
        for keyword in SAME_VALUE:
            numbers = self._numbers_of(_schemas(schema.get(keyword)))
            part.same += numbers
            part.repeated += numbers if keyword in REPEATED else ()
        for keyword in SAME_VALUE_BY_NAME:
            part.same += self._numbers_of(_values(schema.get(keyword)))
        part.same += self._numbers_of(self._referred(schema))
        if not UNEVALUATED.isdisjoint(schema):
            part.same *= 2
        for keyword in EACH_CHILD:
            part.each += self._numbers_of(_schemas(schema.get(keyword)))
        part.each += self._numbers_of(_values(schema.get("patternProperties")))
        part.named += self._numbers_of(_values(schema.get("properties")))
        part.named += self._numbers_of(_schemas(schema.get("prefixItems")))

    def _weigh(self, schema: dict[str, Any]) -> int:
        patterns = [schema.get("pattern"), *_dict(schema.get("patternProperties"))]
        texts = [pattern for pattern in patterns if isinstance(pattern, str)]
        self._patterns += len(texts)
        if self._patterns > MOST_PATTERNS:
            raise UnboundedSchema(f"it has more than {MOST_PATTERNS} patterns")
        backtracking = sum(any(mark in text for mark in LOOK_AROUND) for text in texts)
        listed = sum(len(schema[name]) for name in ("enum", "required") if isinstance(schema.get(name), list))
        return 1 + listed + BACKTRACKING_WEIGHT * backtracking

    # References.

    def _referred(self, schema: dict[str, Any]) -> Iterator[Any]:
        for keyword in ("$ref", "$recursiveRef", "$dynamicRef"):
            reference = schema.get(keyword)
            if isinstance(reference, str):
                yield from self._resolve(reference)

    def _resolve(self, reference: str) -> list[Any]:
        base, _, fragment = reference.partition("#")
        own = self._root.get("$id") if isinstance(self._root, dict) else None
        if base and base != own:
            raise UnboundedSchema(f"it refers to {reference:.200}, and nothing is fetched")
        if fragment and not fragment.startswith("/"):
            return self._anchored(fragment)
        return [self._pointed(fragment, reference)]

    def _pointed(self, pointer: str, reference: str) -> Any:
        target = self._root
        for token in pointer.split("/")[1:]:
            token = _unescaped(token)
            try:
                target = target[int(token)] if isinstance(target, list) else target[token]
            except (KeyError, IndexError, TypeError, ValueError):
                raise UnboundedSchema(f"it refers to {reference:.200}, which it does not have") from None
        return target

    def _anchored(self, name: str) -> list[Any]:
        """All parts with this anchor: which of them a `$dynamicRef` means depends on the value."""
        if not self._anchors:
            for part in _dictionaries(self._root):
                for keyword in ("$anchor", "$dynamicAnchor"):
                    if isinstance(part.get(keyword), str):
                        self._anchors.setdefault(part[keyword], []).append(part)
        if name not in self._anchors:
            raise UnboundedSchema(f"it refers to #{name:.200}, which it does not have")
        return self._anchors[name]

    def _sort(self) -> list[int]:
        graph = {number: set(part.same) for number, part in enumerate(self._parts)}
        try:
            return list(TopologicalSorter(graph).static_order())
        except CycleError:
            raise UnboundedSchema("a part of it refers to itself, for the same value") from None


class _Levels:
    """Evaluations of a whole schema for one node at each depth of a value, computed when needed."""

    def __init__(self, parts: list[_Part], order: list[int], repetition: int) -> None:
        self._parts, self._order, self._repetition = parts, order, repetition
        self._last: list[float] = []
        self._roots: list[float] = []

    def at(self, depth: int) -> float:
        while len(self._roots) <= depth:
            self._last = self._next_level()
            self._roots.append(self._last[0])
        return self._roots[depth]

    def _next_level(self) -> list[float]:
        above, level = self._last, [0.0] * len(self._parts)
        for number in self._order:
            part = self._parts[number]
            if above:
                own = sum(above[child] for child in part.each)
                own += max((above[child] for child in part.named), default=0.0)
            else:
                own = float(part.weight)
            again = sum(level[other] for other in part.repeated) if self._repetition > 1 else 0.0
            level[number] = own + again + sum(level[other] for other in part.same)
        return level


def count_nodes(value: Any) -> list[int]:
    """The number of values at each depth of a decoded message."""
    counts, level = [], [value]
    while level:
        counts.append(len(level))
        level = [
            child
            for node in level
            if isinstance(node, dict | list)
            for child in (node.values() if isinstance(node, dict) else node)
        ]
    return counts


def _schemas(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _values(value: Any) -> Iterable[Any]:
    return _dict(value).values()


def _dictionaries(value: Any) -> Iterator[dict[str, Any]]:
    waiting = [value]
    while waiting:
        node = waiting.pop()
        if isinstance(node, dict):
            yield node
            waiting.extend(node.values())
        elif isinstance(node, list):
            waiting.extend(node)


def _unescaped(token: str) -> str:
    if "%" in token:
        from urllib.parse import unquote

        token = unquote(token)
    return token.replace("~1", "/").replace("~0", "~")
