"""From annotations to types that pydantic reads completely. Imported only if an annotation asks for it.

pydantic ignores metadata that it does not know, as msgspec does. `msgspec.Meta` is therefore translated, and
refused where it cannot be: inside classes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from enum import Enum
from typing import Annotated, Any, Literal, get_args, get_origin

import msgspec
import pydantic
from pydantic_core import core_schema

from assay.model.error import RegistrationError
from assay.server.handlers.header import Header

from . import type_form as form
from .custom_type import list_of, read_custom, write_custom
from .metadata import CONSTRAINTS, is_field_info, plain_items
from .problem import type_name
from .pydantic_adapter import PydanticAdapter
from .schema import schema_of

BRIDGED = ("Struct", "attrs class", "TypedDict")
"""Kinds of classes that msgspec reads inside pydantic's types."""


def adapt(annotation: Any, reads_completely: Callable[[Any], bool]) -> PydanticAdapter:
    """A type as pydantic reads it.

    Args:
        annotation: The type.
        reads_completely: Whether msgspec reads a type as it is, and checks all of it.

    Raises:
        RegistrationError: pydantic cannot read the type, or would ignore a constraint.
    """
    # These decode the text themselves.
    is_decoded = any(type(part).__name__ in ("EncodedBytes", "EncodedStr") for part in _parts(annotation))
    return PydanticAdapter(_Translation(reads_completely).translate(annotation), base64=not is_decoded)


class _Translation:
    def __init__(self, reads_completely: Callable[[Any], bool]) -> None:
        self._reads_completely = reads_completely
        self._visited: list[Any] = []

    def translate(self, annotation: Any) -> Any:
        origin = get_origin(annotation)
        if origin is Annotated:
            base, *items = get_args(annotation)
            return Annotated[(self.translate(base), *_items(items), pydantic.Field())]
        if form.is_literal(annotation):
            return _literal(annotation)
        if form.is_alias(annotation):
            return self._alias(annotation)
        if form.is_new_type(annotation):
            return self.translate(annotation.__supertype__)
        if form.is_iterable(annotation):
            return self.translate(list_of(annotation))
        if annotation is object:
            return Any
        if form.class_kind(origin or annotation) is not None:
            return self._class(annotation)
        return form.map_parts(annotation, self.translate) if origin is not None else annotation

    def _alias(self, annotation: Any) -> Any:
        if annotation in self._visited:
            return annotation
        self._visited.append(annotation)
        value = form.alias_value(annotation)
        translated = self.translate(value)
        if not _mentions(value, annotation):
            return translated
        if translated != value:
            raise RegistrationError(
                f"{type_name(annotation)}: a type that refers to itself cannot be translated for pydantic; "
                "write its constraints as pydantic.Field, or make it a pydantic model"
            )
        return annotation

    def _class(self, annotation: Any) -> Any:
        cls = get_origin(annotation) or annotation
        if form.class_kind(cls) in BRIDGED and self._reads_completely(annotation):
            return _bridged(annotation)
        if cls not in self._visited and not hasattr(cls, "__pydantic_core_schema__"):
            self._visited.append(cls)
            for name, hint in form.field_types(cls):
                self._check_field(f"{type_name(cls)}.{name}", hint)
        return annotation

    def _check_field(self, place: str, hint: Any) -> None:
        for part in _parts(hint):
            if isinstance(part, msgspec.Meta) and set(_meta(part)) & set(CONSTRAINTS):
                raise RegistrationError(
                    f"{place}: pydantic reads this class and ignores msgspec.Meta; write pydantic.Field(…)"
                )
            if form.is_iterable(part):
                raise RegistrationError(f"{place}: {type_name(part)} is checked too late; write list[…]")
            if form.class_kind(get_origin(part) or part) is not None:
                self._class(part)


def _literal(annotation: Any) -> Any:
    """A Literal of members of an Enum is read by their values, which pydantic does not do."""
    members = {choice.value: choice for choice in get_args(annotation) if isinstance(choice, Enum)}
    if not members:
        return annotation
    values = tuple(choice.value if isinstance(choice, Enum) else choice for choice in get_args(annotation))
    return Annotated[
        Literal[values],
        pydantic.BeforeValidator(lambda value: value.value if isinstance(value, Enum) else value),
        pydantic.AfterValidator(lambda value: members.get(value, value)),
    ]


def _parts(annotation: Any) -> Iterator[Any]:
    """A type, the types in it, and their metadata."""
    yield annotation
    if not form.is_literal(annotation):
        for part in get_args(annotation):
            yield from _parts(part)


def _mentions(annotation: Any, alias: Any) -> bool:
    return any(part is alias or part == alias for part in _parts(annotation))


def _bridged(annotation: Any) -> Any:
    """A class that msgspec reads, as a type of pydantic."""

    def read(value: Any) -> Any:
        cls = get_origin(annotation) or annotation
        if form.class_kind(cls) != "TypedDict" and isinstance(value, cls):
            return value
        return msgspec.convert(value, annotation, dec_hook=read_custom)

    def describe(_: Any, __: Any) -> core_schema.CoreSchema:
        writing = core_schema.plain_serializer_function_ser_schema(
            lambda value: msgspec.to_builtins(value, enc_hook=write_custom)
        )
        return core_schema.no_info_plain_validator_function(read, serialization=writing)

    return Annotated[
        annotation, pydantic.GetPydanticSchema(describe), pydantic.WithJsonSchema(schema_of(annotation))
    ]


def _items(items: list[Any]) -> Iterator[Any]:
    """Metadata as pydantic knows it, without names and defaults, which belong to the parameter."""
    for item in items:
        if isinstance(item, msgspec.Meta):
            yield _field(_meta(item))
        elif isinstance(item, str):
            yield pydantic.Field(description=item)
        elif is_field_info(item):
            names = ("title", "description", "examples", "json_schema_extra", "discriminator", "deprecated")
            values = {name: getattr(item, name) for name in names}
            yield pydantic.Field(**{name: value for name, value in values.items() if value is not None})
            yield from plain_items(item.metadata)
        elif not isinstance(item, Header):
            yield _checked(item)


def _checked(item: Any) -> Any:
    if type(item).__name__ == "Timezone":
        raise RegistrationError("pydantic ignores Timezone; write AwareDatetime or NaiveDatetime of pydantic")
    return item


def _meta(item: msgspec.Meta) -> dict[str, Any]:
    return {name: value for name, value, *_ in item.__rich_repr__()}


def _field(values: dict[str, Any]) -> Any:
    if "tz" in values:
        raise RegistrationError("tz of msgspec.Meta is not for this type; write AwareDatetime of pydantic")
    values = {name: value for name, value in values.items() if name != "extra"}
    if "extra_json_schema" in values:
        values["json_schema_extra"] = values.pop("extra_json_schema")
    return pydantic.Field(**values)
