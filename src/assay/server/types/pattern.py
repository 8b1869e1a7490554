"""Patterns of strings, checked by an engine whose time is bounded.

msgspec runs the `pattern` of a type as a Python regular expression. Many of those take exponential time for
some strings, hold the interpreter's lock meanwhile, and so let one client stop the server. Patterns are
therefore removed from types that arguments are decoded into, and checked by the engine of `Validator`. That
is not possible for patterns inside classes.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator, Mapping
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import msgspec

from assay.model.error import RegistrationError

from .custom_type import write_custom
from .schema import schema_of
from .validator import Validator

UNIONS = (Union, types.UnionType)
SIMPLE = (Any, str, int, float, bool, bytes, None)


def without_patterns(annotation: Any) -> Any:
    """A type without its patterns; the same object if it has none.

    Raises:
        RegistrationError: a class inside the type has one.
    """
    stripped = _strip(annotation)
    name = _class_with_pattern(stripped)
    if name is not None:
        raise RegistrationError(
            f"pattern inside {name}: as a Python regular expression it could take for ever; "
            "put it on the parameter itself, or use a pydantic model or a JSON Schema"
        )
    return stripped


def _strip(annotation: Any) -> Any:
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        base, *metadata = arguments
        parts = (_strip(base), *map(_strip_meta, metadata))
        return annotation if _same(parts, arguments) else Annotated[parts]
    if origin is None or origin is Literal:
        return annotation
    parts = tuple(map(_strip, arguments))
    if _same(parts, arguments):
        return annotation
    return Union[parts] if origin in UNIONS else origin[parts]  # noqa: UP007 - the parts are a tuple


def _same(parts: tuple[Any, ...], arguments: tuple[Any, ...]) -> bool:
    return all(part is argument for part, argument in zip(parts, arguments, strict=True))


def _strip_meta(metadata: Any) -> Any:
    if not isinstance(metadata, msgspec.Meta) or metadata.pattern is None:
        return metadata
    rest = {name: value for name, value, *_ in metadata.__rich_repr__() if name != "pattern"}
    return msgspec.Meta(**rest)


def _class_with_pattern(annotation: Any) -> str | None:
    if annotation in SIMPLE:
        return None
    # Imported here: most handlers take simple types only.
    from msgspec import inspect

    try:
        node = inspect.type_info(annotation)
    except TypeError:
        return None  # the schema or decoder of the type explains what is wrong with it
    return next(_patterns_in(node, "", set()), None)


def _patterns_in(node: Any, name: str, visited: set[int]) -> Iterator[str]:
    """The names of classes with a pattern, below a node of `msgspec.inspect`."""
    from msgspec import inspect

    if id(node) in visited:
        return
    visited.add(id(node))
    if isinstance(node, inspect.StrType) and node.pattern is not None:
        yield name
    for part in getattr(node, "__struct_fields__", ()):
        value = getattr(node, part)
        inner = getattr(node, "cls", None)
        label = inner.__qualname__ if isinstance(inner, type) else name
        for item in value if isinstance(value, tuple) else (value,):
            if isinstance(item, inspect.Type | inspect.Field):
                yield from _patterns_in(item, label, visited)


class PatternCheck:
    """Checks values by the patterns of their types.

    Args:
        annotations: Types by name, with their patterns.
    """

    __slots__ = ("_validator",)

    def __init__(self, annotations: Mapping[str, Any]) -> None:
        fields = [(name, annotation) for name, annotation in annotations.items()]
        schema = schema_of(msgspec.defstruct("Values", fields, kw_only=True))
        schema.pop("required", None)
        self._validator = Validator(schema)

    def __call__(self, values: Mapping[str, Any]) -> None:
        """
        Raises:
            msgspec.ValidationError: a value does not fit.
        """
        plain = msgspec.to_builtins(dict(values), enc_hook=write_custom)
        problem = self._validator.problem(plain)
        if problem is not None:
            raise msgspec.ValidationError(problem)


def checked(
    read: Callable[[Any], msgspec.Struct], annotations: Mapping[str, Any], defaults: Mapping[str, Any]
) -> Callable[[Any], msgspec.Struct]:
    """A reader that also checks these fields of what it reads, except for defaults."""
    if not annotations:
        return read
    check = PatternCheck(annotations)
    missing = object()

    def read_and_check(source: Any) -> msgspec.Struct:
        struct = read(source)
        values = {name: getattr(struct, name) for name in annotations}
        check({name: value for name, value in values.items() if value != defaults.get(name, missing)})
        return struct

    return read_and_check
