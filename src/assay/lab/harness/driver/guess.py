"""Values for a schema: what it offers itself, else earlier results, descriptions, formats and names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from .known_values import KnownValues
from .plausible import described_in, plausible_number, plausible_texts, seems_to_change, seems_to_remove

DEEPEST: Final = 8
NOTHING_KNOWN: Final = KnownValues()
_LOCAL: Final = "#/"


class Guess:
    """One way to fill in a schema. Another `variant` takes the next choice wherever there are several."""

    def __init__(
        self,
        tool: dict[str, Any],
        known: KnownValues = NOTHING_KNOWN,
        *,
        variant: int = 0,
        optional: bool = False,
    ) -> None:
        self._tool = tool
        self._about = "" if seems_to_change(tool) else str(tool.get("name"))
        self._known = known
        self._variant = variant
        self._optional = optional
        """Whether arguments that may be left out are filled in, too."""

    def value(self, schema: Any, name: str = "", depth: int = 0) -> Any:
        schema = self._resolved(schema)
        if not isinstance(schema, dict) or depth > DEEPEST:
            return None
        if "const" in schema:
            return schema["const"]
        offered = _offered(schema)
        if offered:
            return self._pick(offered)
        for key in ("anyOf", "oneOf", "allOf"):
            if isinstance(schema.get(key), list) and schema[key]:
                return self.value(self._branch(schema[key]), name or _text(schema.get("title")), depth + 1)
        make = _MAKERS.get(_type(schema))
        return make(self, schema, name, depth) if make is not None else None

    def _pick(self, choices: list[Any]) -> Any:
        return choices[min(self._variant, len(choices) - 1)]

    def _branch(self, branches: list[Any]) -> Any:
        """The first branch that is not null, which stands for "left out"."""
        return next((each for each in branches if not _is_null(self._resolved(each))), branches[0])

    def _resolved(self, schema: Any) -> Any:
        """The schema that a local `$ref` names."""
        for _ in range(DEEPEST):
            reference = schema.get("$ref") if isinstance(schema, dict) else None
            if not isinstance(reference, str) or not reference.startswith(_LOCAL):
                return schema
            target: Any = self._tool.get("inputSchema")
            for step in reference.removeprefix(_LOCAL).split("/"):
                step = step.replace("~1", "/").replace("~0", "~")
                target = target.get(step) if isinstance(target, dict) else None
            schema = target
        return schema

    def _fitting(self, name: str, kind: type) -> list[Any]:
        """Values of earlier results. A tool that removes something gets the last: others use the first."""
        values = self._known.fitting(name, kind, self._about) if name else []
        return values[::-1] if seems_to_remove(self._tool) else values

    def object(self, schema: dict[str, Any], name: str, depth: int) -> dict[str, Any]:
        properties = schema.get("properties")
        required = schema.get("required")
        parts = properties if isinstance(properties, dict) else {}
        names = [each for each in (required if isinstance(required, list) else []) if isinstance(each, str)]
        if self._optional and depth == 0:
            names += [each for each in parts if each not in names]
        return {each: self.value(parts.get(each, {"type": "string"}), each, depth + 1) for each in names}

    def array(self, schema: dict[str, Any], name: str, depth: int) -> list[Any]:
        least = min(_whole(schema.get("minItems")), 10)
        # An empty list is legal, and what a tool is least likely to work with.
        count = max(least, 0 if schema.get("maxItems") == 0 else 1) if depth == 1 else least
        items = schema.get("items", {"type": "string"})
        return [self.value(items, name.removesuffix("s"), depth + 1) for _ in range(count)]

    def string(self, schema: dict[str, Any], name: str, depth: int) -> str:
        described = f"{_text(schema.get('description'))} {described_in(self._tool, name) if name else ''}"
        title = _text(schema.get("title"))
        known = self._fitting(name, str) or [str(value) for value in self._fitting(name, int)]
        purpose = _text(self._tool.get("description"))
        texts = plausible_texts(name or title or "text", described.strip(), schema.get("format"), purpose)
        text = str(self._pick([*known, *texts]))
        padded = text.ljust(min(_whole(schema.get("minLength")), 1000), "a")
        longest = schema.get("maxLength")
        return padded[: max(longest, 0)] if isinstance(longest, int) else padded

    def number(self, schema: dict[str, Any], name: str, depth: int) -> Any:
        known = self._fitting(name, int)
        number = self._pick(known) if known else plausible_number(name, _text(schema.get("description")))
        least, most = _number(schema.get("minimum")), _number(schema.get("maximum"))
        above, below = _number(schema.get("exclusiveMinimum")), _number(schema.get("exclusiveMaximum"))
        if above is not None and number <= above:
            number = above + 1
        if below is not None and number >= below:
            number = below - 1
        number = number if least is None else max(number, least)
        number = number if most is None else min(number, most)
        step = _number(schema.get("multipleOf"))
        number = step * -(-number // step) if step and step > 0 else number
        return int(number) if _type(schema) == "integer" else number

    def boolean(self, schema: dict[str, Any], name: str, depth: int) -> bool:
        return False


_MAKERS: Final[dict[str, Callable[[Guess, dict[str, Any], str, int], Any]]] = {
    "object": Guess.object,
    "array": Guess.array,
    "string": Guess.string,
    "number": Guess.number,
    "integer": Guess.number,
    "boolean": Guess.boolean,
}


def _offered(schema: dict[str, Any]) -> list[Any]:
    """The values that the schema itself names: examples, its default, its enumeration."""
    values: list[Any] = list(schema["examples"]) if isinstance(schema.get("examples"), list) else []
    values += [schema[key] for key in ("example", "default") if schema.get(key) is not None]
    values += schema["enum"] if isinstance(schema.get("enum"), list) else []
    return values


def _is_null(schema: Any) -> bool:
    return isinstance(schema, dict) and schema.get("type") == "null"


def _type(schema: dict[str, Any]) -> str:
    kind = schema.get("type", "object" if "properties" in schema else "null")
    if isinstance(kind, list) and kind:
        return str(next((each for each in kind if each != "null"), kind[0]))
    return str(kind)


def _whole(value: Any) -> int:
    return value if isinstance(value, int) else 0


def _number(value: Any) -> float | None:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
