"""What msgspec leaves out of its schemas: formats of dates and times, and that a decimal may be a number."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import inspect

Schema = dict[str, Any]


def add_details(root: Schema, definitions: Mapping[str, Schema], annotation: Any) -> None:
    """Complete the schema of a type, and the definitions that it refers to."""
    _Details(definitions).add(inspect.type_info(annotation), root)


class _Details:
    def __init__(self, definitions: Mapping[str, Schema]) -> None:
        self._definitions = {f"#/$defs/{name}": schema for name, schema in definitions.items()}
        self._completed: set[int] = set()

    def add(self, node: Any, schema: Any) -> None:
        if not isinstance(schema, dict):
            return
        schema = self._definitions.get(schema.get("$ref", ""), schema)
        match _bare(node):
            case inspect.DateTimeType(tz=zone) if zone is not False:
                schema.setdefault("format", "date-time")
            case inspect.TimeType(tz=zone) if zone is not False:
                schema.setdefault("format", "time")
            case inspect.DecimalType():
                schema["type"] = ["string", "number"]
            case inspect.UnionType(types=types):
                self._add_to_union(types, schema)
            case bare:
                for inner, part in _parts(bare, schema):
                    self._add_once(inner, part)

    def _add_once(self, node: Any, schema: Any) -> None:
        if id(schema) not in self._completed:
            self._completed.add(id(schema))
            self.add(node, schema)

    def _add_to_union(self, nodes: tuple[Any, ...], schema: Schema) -> None:
        """msgspec allows one string in a union, and several objects only as Structs, in their order."""
        options = list(_options(schema))
        strings = [option for option in options if option.get("type") == "string" and "enum" not in option]
        references = [option for option in options if self._is_object(option)]
        arrays = [option for option in options if option.get("type") in ("array", "object")]
        objects = [node for node in map(_bare, nodes) if hasattr(node, "fields")]
        for node, option in zip(objects, references, strict=False):
            self.add(node, option)
        for node in nodes:
            for option in strings if _is_text(_bare(node)) else arrays:
                if _fits(_bare(node), option):
                    self.add(node, option)

    def _is_object(self, option: Schema) -> bool:
        return "enum" not in self._definitions.get(option.get("$ref", ""), {"enum": []})


def _bare(node: Any) -> Any:
    while isinstance(node, inspect.Metadata):
        node = node.type
    return node


def _is_text(node: Any) -> bool:
    return isinstance(node, inspect.DateTimeType | inspect.TimeType | inspect.DecimalType)


def _fits(node: Any, option: Schema) -> bool:
    if isinstance(node, inspect.DictType):
        return bool(option["type"] == "object")
    is_array = hasattr(node, "item_type") or isinstance(node, inspect.TupleType)
    return _is_text(node) or bool(is_array and option["type"] == "array")


def _options(schema: Schema) -> Iterator[Schema]:
    for option in schema.get("anyOf", ()):
        yield from _options(option) if "anyOf" in option else (option,)


def _parts(node: Any, schema: Schema) -> Iterator[tuple[Any, Any]]:
    """The types in a type, with their schemas."""
    if isinstance(node, inspect.DictType):
        yield node.value_type, schema.get("additionalProperties")
    elif isinstance(node, inspect.TupleType):
        yield from zip(node.item_types, schema.get("prefixItems", ()), strict=False)
    elif hasattr(node, "item_type"):
        yield node.item_type, schema.get("items")
    elif hasattr(node, "fields"):
        inner = schema.get("properties", {})
        in_order = schema.get("prefixItems", [])[-len(node.fields) :]
        yield from ((field.type, inner.get(field.encode_name)) for field in node.fields if inner)
        yield from ((field.type, part) for field, part in zip(node.fields, in_order, strict=False))
