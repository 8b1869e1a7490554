"""The forms in which types are written: aliases, unions, containers, classes with fields."""

from __future__ import annotations

import collections.abc
import dataclasses
import datetime
import decimal
import enum
import sys
import types
import typing
import uuid
from collections.abc import Callable, Iterator
from typing import Annotated, Any, ClassVar, Final, Literal, Union, get_args, get_origin

import msgspec

from assay.model.error import RegistrationError

from .prepared_type import SIMPLE
from .problem import type_name

UNIONS: Final = (Union, types.UnionType)
NUMBERS: Final = (int, float)
TIMES: Final = (datetime.datetime, datetime.date, datetime.time, datetime.timedelta)
_BYTES: Final = (bytearray, memoryview)
LEAVES: Final = (*SIMPLE, *TIMES, *_BYTES, uuid.UUID, decimal.Decimal, msgspec.Raw, msgspec.UnsetType)
_SEQUENCES: Final = ("Collection", "Sequence", "MutableSequence")
_ABSTRACT: Final = (*_SEQUENCES, "Set", "MutableSet", "Mapping", "MutableMapping")
CONTAINERS: Final = frozenset(
    {list, set, frozenset, tuple, dict, collections.deque}
    | {getattr(collections.abc, name) for name in _ABSTRACT}
)
ITERABLES: Final = frozenset({collections.abc.Iterable, collections.abc.Iterator})
"""Read as lists: a value that is checked while the function iterates over it would be checked too late."""
WRAPPERS: Final = (typing.Required, typing.NotRequired, typing.Final, getattr(typing, "ReadOnly", None))
"""Marks around the type of a field. The last is newer than Python 3.12."""


def is_alias(annotation: Any) -> bool:
    """Whether a type is an alias: `type Name = …`, or `TypeAliasType` of typing_extensions."""
    return type(get_origin(annotation) or annotation).__name__ == "TypeAliasType"


def alias_value(annotation: Any) -> Any:
    """What an alias is an alias of."""
    alias, arguments = get_origin(annotation) or annotation, get_args(annotation)
    value = alias.__value__
    if isinstance(value, str):
        # Before Python 3.12, an alias that refers to itself is written as text.
        value = eval(value, vars(sys.modules[alias.__module__]))
    return value[arguments] if arguments else value


def is_new_type(annotation: Any) -> bool:
    return isinstance(annotation, typing.NewType)


def is_iterable(annotation: Any) -> bool:
    return any((get_origin(annotation) or annotation) is each for each in ITERABLES)


def is_literal(annotation: Any) -> bool:
    return get_origin(annotation) is Literal


def is_enum(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, enum.Enum)


def bare(annotation: Any) -> Any:
    """The outermost class or form: `int` of `Annotated[int, …]`, `list` of `list[int]`."""
    while get_origin(annotation) is Annotated:
        annotation = get_args(annotation)[0]
    return get_origin(annotation) or annotation


def map_parts(annotation: Any, change: Callable[[Any], Any]) -> Any:
    """A union or container with other types in it; the same object if none of them changes."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    parts = tuple(change(part) if _is_type(part) else part for part in arguments)
    if all(part is argument for part, argument in zip(parts, arguments, strict=True)):
        return annotation
    return Union[parts] if origin in UNIONS else origin[parts]  # noqa: UP007 - the parts are a tuple


def _is_type(part: Any) -> bool:
    """False for what else is in brackets: the dots of a tuple, the parameters of a callable."""
    return part is not ... and not isinstance(part, list | tuple)


def class_kind(cls: Any) -> str | None:
    """How a class with fields was made, if it is one that msgspec reads."""
    if not isinstance(cls, type):
        return None
    if issubclass(cls, msgspec.Struct):
        return "Struct"
    if typing.is_typeddict(cls) or type(cls).__name__ == "_TypedDictMeta":
        return "TypedDict"
    if issubclass(cls, tuple) and hasattr(cls, "_fields"):
        return "NamedTuple"
    if dataclasses.is_dataclass(cls):
        return "dataclass"
    return "attrs class" if hasattr(cls, "__attrs_attrs__") else None


def field_types(cls: Any) -> Iterator[tuple[str, Any]]:
    """
    Raises:
        RegistrationError: a type cannot be resolved.
    """
    try:
        hints = typing.get_type_hints(cls, include_extras=True)
    except (NameError, TypeError) as error:
        raise RegistrationError(
            f"a type inside {type_name(cls)} cannot be resolved: {error}; define it at the top of a module"
        ) from None
    for name, hint in hints.items():
        if get_origin(hint) is not ClassVar and hint is not ClassVar:
            yield name, unwrapped(hint)


def unwrapped(hint: Any) -> Any:
    """The type of a field without `Required`, `Final` and the like."""
    while (origin := get_origin(hint)) is not None and origin in WRAPPERS:
        (hint,) = get_args(hint)
    return hint


def field_defaults(cls: Any) -> Iterator[tuple[str, Any]]:
    if dataclasses.is_dataclass(cls):
        yield from ((each.name, each.default) for each in dataclasses.fields(cls))
    elif issubclass(cls, msgspec.Struct):
        yield from ((each.name, each.default) for each in msgspec.structs.fields(cls))
    elif hasattr(cls, "__attrs_attrs__"):
        yield from ((each.name, each.default) for each in cls.__attrs_attrs__)
    else:
        yield from getattr(cls, "_field_defaults", {}).items()
