"""Dates and times in the short forms that pydantic reads and msgspec does not.

A date without a time is midnight, and a time may lack its seconds. Arguments are first read as they are;
only if that fails are short forms completed and the arguments read again.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any, Final

import msgspec
from msgspec import inspect

_DATE: Final = r"\d{4}-\d\d-\d\d"
_ZONE: Final = r"Z|z|[+-]\d\d:\d\d"
_DATE_TIME: Final = re.compile(rf"({_DATE})(?:[Tt _](\d\d:\d\d)({_ZONE})?)?", re.ASCII)
_TIME: Final = re.compile(rf"(\d\d:\d\d)({_ZONE})?", re.ASCII)

Read = Callable[[Any], msgspec.Struct]


def with_short_times(
    read: Read, struct: type[msgspec.Struct], load: Callable[[Any], Any], store: Callable[[Any], Any]
) -> Read:
    """A reader that also takes short forms.

    Args:
        read: Reads arguments into the struct.
        struct: What they are read into.
        load: From what the reader takes to plain values.
        store: The reverse.
    """
    node = inspect.type_info(struct)

    def read_short(source: Any) -> msgspec.Struct:
        try:
            return read(source)
        except msgspec.ValidationError:
            plain = load(source)
            completed = _complete(plain, node)
            if completed is plain or completed == plain:
                raise
            return read(store(completed))

    return read_short


def _complete(value: Any, node: Any) -> Any:
    """A value whose short dates and times are written in full, where its type has dates and times."""
    match node:
        case inspect.DateTimeType() | inspect.TimeType() if isinstance(value, str):
            return _in_full(value, isinstance(node, inspect.TimeType))
        case inspect.UnionType(types=types):
            return _complete_in_union(value, types)
        case inspect.Metadata(type=inner):
            return _complete(value, inner)
        case inspect.DictType(value_type=inner) if isinstance(value, dict):
            return {key: _complete(item, inner) for key, item in value.items()}
        case inspect.TupleType(item_types=types) if isinstance(value, list):
            return [*map(_complete, value, types), *value[len(types) :]]
    if isinstance(value, list) and hasattr(node, "item_type"):
        return [_complete(item, node.item_type) for item in value]
    if isinstance(value, dict) and hasattr(node, "fields"):
        fields = {field.encode_name: field.type for field in node.fields}
        return {key: _complete(item, fields.get(key)) for key, item in value.items()}
    return value


def _complete_in_union(value: Any, types: Iterable[Any]) -> Any:
    for node in types:
        if not _may_be(value, node):
            continue  # in unions that contain themselves, looking into every member would take years
        completed = _complete(value, node)
        if completed != value:
            return completed
    return value


def _may_be(value: Any, node: Any) -> bool:
    """Whether a value is not an object with the tag of another class."""
    tag_field = getattr(node, "tag_field", None)
    return tag_field is None or not isinstance(value, dict) or value.get(tag_field) == node.tag


def _in_full(text: str, is_time: bool) -> str:
    if is_time:
        short = _TIME.fullmatch(text)
        return text if short is None else f"{short[1]}:00{short[2] or ''}"
    short = _DATE_TIME.fullmatch(text)
    return text if short is None else f"{short[1]}T{short[2] or '00:00'}:00{short[3] or ''}"
