"""The arguments of a handler, as one type: described to clients, and read from what they send."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Annotated, Any

import msgspec
from msgspec import UNSET

from assay.model.error import RegistrationError
from assay.server.types.custom_type import write_custom
from assay.server.types.pattern import checked, without_patterns
from assay.server.types.prepared_type import Prepared
from assay.server.types.problem import type_name
from assay.server.types.reading import ReadAt, Wire, prepare

from .parameter import MUTABLE, Parameter

Read = Callable[[Any], msgspec.Struct]


class ArgumentType:
    """
    Raises:
        RegistrationError: the type of a parameter cannot be read, or not all of its constraints be checked.
    """

    def __init__(self, name: str, parameters: Iterable[Parameter]) -> None:
        self._name = name
        self._parts = [(parameter, self._prepare(parameter)) for parameter in parameters]
        self._aliases = {part.name: part.alias for part, _ in self._parts if part.alias is not None}
        self._check_names()

    def _prepare(self, parameter: Parameter) -> Prepared:
        try:
            return prepare(parameter.annotation)
        except RegistrationError as error:
            raise self._refusal(parameter, error) from None

    def _refusal(self, parameter: Parameter, error: RegistrationError) -> RegistrationError:
        written, reason = type_name(parameter.annotation), str(error)
        about = "" if written in reason else f"{written}: "
        return RegistrationError(f"{self._name}: parameter {parameter.name}: {about}{reason}")

    def _check_names(self) -> None:
        names = [parameter.wire_name for parameter, _ in self._parts]
        doubled = next((name for name in names if names.count(name) > 1), None)
        if doubled is not None:
            raise RegistrationError(f"{self._name}: two parameters have the name or alias {doubled}")

    def described(self) -> type[msgspec.Struct]:
        """A type with one field per parameter, to describe arguments by."""
        fields = [_described_field(parameter, prepared.described) for parameter, prepared in self._parts]
        return self._struct(fields, closed=True)

    def reader(self, wire: Wire, *, closed: bool = True) -> Read:
        """Reads arguments into a struct with one field per parameter.

        Args:
            wire: How they arrive.
            closed: Refuse arguments without a parameter, instead of ignoring them.

        Raises:
            RegistrationError: a class that a parameter consists of has a pattern.
        """
        fields, late, patterned = [], [], []
        for parameter, prepared in self._parts:
            plain = self._without_patterns(parameter, prepared)
            if (read_at := wire.late(prepared, plain)) is not None:
                late.append((parameter, read_at))
                fields.append(_late_field(parameter, wire.unread))
            else:
                fields.append(_field(parameter, plain))
            if plain is not prepared.annotation:
                patterned.append((parameter, prepared.annotation))
        struct = self._struct(fields, closed=closed)
        read = self._with_short_times(wire.make(struct), struct, wire)
        annotations = {parameter.name: annotation for parameter, annotation in patterned}
        defaults = {each.name: each.default for each, _ in patterned if not each.required}
        return self._without_collisions(checked(with_late(read, late), annotations, defaults))

    def _struct(self, fields: list[Any], *, closed: bool) -> type[msgspec.Struct]:
        rename = self._aliases or None
        return msgspec.defstruct(
            self._name, fields, kw_only=True, forbid_unknown_fields=closed, rename=rename
        )

    def _without_patterns(self, parameter: Parameter, prepared: Prepared) -> Any:
        if prepared.by_pydantic is not None:
            return prepared.annotation
        try:
            return without_patterns(prepared.annotation)
        except RegistrationError as error:
            raise RegistrationError(f"{self._name}: parameter {parameter.name}: {error}") from None

    def _without_collisions(self, read: Read) -> Read:
        if not any(prepared.is_hashed for _, prepared in self._parts):
            return read
        from assay.server.types.chosen_hash import without_collisions

        return without_collisions(read)

    def _with_short_times(self, read: Read, struct: type[msgspec.Struct], wire: Wire) -> Read:
        if not any(prepared.has_times for _, prepared in self._parts):
            return read
        from assay.server.types.short_time import with_short_times

        return with_short_times(read, struct, wire.load, wire.store)


def _field(parameter: Parameter, annotation: Any) -> tuple[str, Any] | tuple[str, Any, Any]:
    if parameter.required:
        return parameter.name, annotation
    if parameter.default_factory is not None or isinstance(parameter.default, MUTABLE):
        return parameter.name, annotation, msgspec.field(default_factory=lambda: parameter.fresh_default)
    return parameter.name, annotation, parameter.default


def _late_field(parameter: Parameter, unread: Any) -> tuple[str, Any] | tuple[str, Any, Any]:
    return (parameter.name, unread) if parameter.required else (parameter.name, unread, UNSET)


def _described_field(parameter: Parameter, annotation: Any) -> tuple[str, Any] | tuple[str, Any, Any]:
    more = parameter.more
    if more:
        annotation = Annotated[annotation, msgspec.Meta(**more)]
    if parameter.required or parameter.default_factory is not None:
        return _field(parameter, annotation)
    try:
        default = msgspec.to_builtins(parameter.default, enc_hook=write_custom, str_keys=True)
    except (TypeError, NotImplementedError, ValueError):
        # A marker that only the function knows.
        return parameter.name, annotation, msgspec.field(default_factory=lambda: parameter.default)
    if isinstance(default, list | dict) and default:
        about = msgspec.Meta(extra_json_schema={"default": default})
        return _field(parameter, Annotated[annotation, about])
    return parameter.name, annotation, default


def with_late(read: Read, late: list[tuple[Parameter, ReadAt]]) -> Read:
    """A reader that has the values of some fields read by others."""
    if not late:
        return read

    def read_all(source: Any) -> msgspec.Struct:
        struct = read(source)
        for parameter, read_at in late:
            value = getattr(struct, parameter.name)
            typed = parameter.fresh_default if value is UNSET else read_at(value, f"$.{parameter.wire_name}")
            setattr(struct, parameter.name, typed)
        return struct

    return read_all
