"""Which library reads a type: msgspec as it is, msgspec with translated constraints, or pydantic.

msgspec ignores metadata that it does not know, and would accept what the metadata forbids. Types are
therefore walked through at registration. What msgspec cannot express raises `Beyond`, and pydantic reads the
whole type; what neither can check is refused.
"""

from __future__ import annotations

import datetime
import decimal
import sys
import typing
import uuid
from enum import Enum
from typing import Annotated, Any, Final, TypeVar, Union, get_args, get_origin

import msgspec

from assay.model.error import RegistrationError

from . import type_form as form
from .chosen_hash import is_hashed
from .custom_type import is_deque, is_pydantic, is_text, list_of, read_custom
from .metadata import BOUNDS, LENGTHS, Details, is_field_info, read_details
from .prepared_type import Prepared
from .problem import one_line, type_name
from .schema import schema_of

WITHOUT_BOUNDS: Final = (str, bytes, bool, None, type(None), uuid.UUID, *form.CONTAINERS)
WITHOUT_LENGTH: Final = (*form.NUMBERS, *form.TIMES, bool, None, type(None), uuid.UUID, decimal.Decimal)
WITHOUT_PATTERN: Final = (*WITHOUT_LENGTH, *form.CONTAINERS)


class Beyond(Exception):
    """msgspec cannot read a type. pydantic may."""


def prepare_type(annotation: Any) -> Prepared:
    """
    Raises:
        RegistrationError: neither msgspec nor pydantic can read the type, or a constraint cannot be checked.
    """
    walk = Walk()
    try:
        plain = walk.rewrite(annotation)
        check_readable(plain)
    except Beyond as reason:
        return _prepare_with_pydantic(annotation, str(reason))
    return Prepared(
        plain,
        _with_lists(plain),
        has_times=walk.has_times,
        is_hashed=walk.is_hashed,
        is_structure=_is_structure(plain),
    )


def _prepare_with_pydantic(annotation: Any, reason: str) -> Prepared:
    try:
        from .pydantic_type import adapt
    except ModuleNotFoundError as error:
        if error.name != "pydantic":
            raise
        raise RegistrationError(
            f"{type_name(annotation)}: {reason}; for such types, install pydantic: pip install pydantic"
        ) from None
    adapter = adapt(annotation, _reads_completely)
    return Prepared(annotation, _placeholder(annotation, adapter.schema()), adapter)


def _reads_completely(annotation: Any) -> bool:
    """Whether msgspec reads a type as it is, and checks all of it."""
    try:
        check_readable(annotation)
        return Walk().rewrite(annotation) is annotation
    except Beyond:
        return False


def _placeholder(annotation: Any, schema: dict[str, Any]) -> Any:
    """A class whose schema is given. msgspec takes an empty one for a missing one."""
    return type(type_name(annotation), (), {"__assay_schema__": schema}) if schema else Any


def _with_lists(annotation: Any) -> Any:
    """A type with lists for deques, whose schema is the same. msgspec's hook does not get what is in one."""
    if is_deque(annotation):
        return _with_lists(list_of(annotation))
    if get_origin(annotation) is Annotated:
        base, *items = get_args(annotation)
        return Annotated[(_with_lists(base), *items)]
    if form.is_literal(annotation) or get_origin(annotation) is None:
        return annotation
    return form.map_parts(annotation, _with_lists)


def _is_structure(annotation: Any) -> bool:
    kind = form.bare(annotation)
    if kind in form.UNIONS:
        members = [part for part in get_args(annotation) if part is not type(None)]
        return bool(members) and all(map(_is_structure, members))
    return any(kind is container for container in form.CONTAINERS) or form.class_kind(kind) is not None


def check_readable(annotation: Any) -> None:
    try:
        msgspec.json.Decoder(annotation, dec_hook=read_custom)
        schema_of(_with_lists(annotation))
    except (TypeError, RegistrationError) as error:
        raise Beyond(one_line(str(error))) from None
    except NameError as error:
        raise RegistrationError(f"{type_name(annotation)}: a type cannot be resolved: {error}") from None


class Walk:
    """Rewrites one type for msgspec."""

    def __init__(self) -> None:
        self.has_times = False
        self.is_hashed = False
        self._classes: set[Any] = set()
        self._aliases: list[Any] = []
        self._inside: list[Any] = []
        """The classes whose fields are being read. Their types cannot be changed."""

    def rewrite(self, annotation: Any) -> Any:
        """The type for msgspec; the same object if msgspec reads it as it is.

        Raises:
            Beyond: msgspec cannot read it.
            RegistrationError: nor can pydantic.
        """
        origin = get_origin(annotation)
        self.is_hashed |= is_hashed(origin or annotation, get_args(annotation))
        if origin is Annotated:
            return self._annotated(annotation)
        if form.is_literal(annotation):
            return self._literal(annotation)
        if isinstance(annotation, TypeVar) or is_text(annotation):
            return annotation
        if form.is_alias(annotation):
            return self._alias(annotation)
        if form.is_new_type(annotation):
            inner = self.rewrite(annotation.__supertype__)
            return annotation if inner is annotation.__supertype__ else inner
        if form.is_iterable(annotation):
            return self.rewrite(list_of(annotation))
        if origin in form.UNIONS or origin in form.CONTAINERS:
            return form.map_parts(annotation, self.rewrite)
        return self._class(annotation, origin)

    def _literal(self, annotation: Any) -> Any:
        if any(isinstance(choice, Enum) for choice in get_args(annotation)):
            raise Beyond(f"{type_name(annotation)} has members of an Enum")
        return annotation

    def _class(self, annotation: Any, origin: Any) -> Any:
        cls = origin or annotation
        if cls is object:
            return Any
        if any(cls is leaf for leaf in (*form.LEAVES, *form.CONTAINERS)) or form.is_enum(cls):
            self.has_times |= cls in (datetime.datetime, datetime.time)
            return annotation
        if hasattr(cls, "__pydantic_core_schema__") or is_pydantic(cls):
            return self._of_pydantic(annotation)
        if form.class_kind(cls) is not None:
            self._check_fields(cls)
            return self._with_arguments(annotation) if origin is not None else annotation
        raise _not_json(annotation, cls)

    def _with_arguments(self, annotation: Any) -> Any:
        """A generic class, whose arguments take the places of type variables inside it."""
        self._inside.append(annotation)
        rewritten = form.map_parts(annotation, self.rewrite)
        self._inside.pop()
        return rewritten

    def _of_pydantic(self, annotation: Any) -> Any:
        """Inside a class, msgspec's hook reads it, unless msgspec would take it for a plain dataclass."""
        if self._inside and form.class_kind(annotation) is None:
            return annotation
        raise Beyond(f"{type_name(annotation)} is a type of pydantic")

    def _alias(self, annotation: Any) -> Any:
        if annotation in self._aliases:
            raise Beyond(f"{type_name(annotation)} refers to itself")
        self._aliases.append(annotation)
        value = form.alias_value(annotation)
        plain = self.rewrite(value)
        self._aliases.pop()
        # Inside a class it cannot be replaced. msgspec knows the aliases of the language.
        is_known = bool(self._inside) and hasattr(typing, "TypeAliasType")
        return annotation if is_known and plain is value else plain

    def _check_fields(self, cls: Any) -> None:
        if cls in self._classes:
            return
        self._classes.add(cls)
        self._inside.append(cls)
        for name, default in form.field_defaults(cls):
            if is_field_info(default):
                self._refuse_field(cls, name, "its default is a Field")
        for name, hint in form.field_types(cls):
            reason = self._reason_against(hint)
            if reason is not None:
                self._refuse_field(cls, name, reason)
        self._inside.pop()

    def _reason_against(self, hint: Any) -> str | None:
        try:
            return None if self.rewrite(hint) is hint else f"msgspec ignores part of {type_name(hint)}"
        except Beyond as reason:
            return str(reason)

    def _refuse_field(self, cls: Any, name: str, reason: str) -> None:
        """pydantic reads dataclasses and the like with their constraints, but no Struct or attrs class."""
        kind = form.class_kind(cls)
        place = f"{type_name(cls)}.{name}"
        if kind in ("Struct", "attrs class"):
            article = "a" if kind == "Struct" else "an"
            raise RegistrationError(
                f"{place}: {reason}; "
                f"in {article} {kind}, write msgspec.Meta(…), or make it a dataclass or pydantic model"
            )
        raise Beyond(f"{place}: {reason}")

    def _annotated(self, annotation: Any) -> Any:
        base, *items = get_args(annotation)
        details = read_details(items)
        plain = self.rewrite(base)
        check_applicable(form.bare(plain), details)
        if details.beyond:
            raise Beyond(f"{type_name(details.beyond[0])} is checked by pydantic")
        if details.translated or form.bare(plain) in form.UNIONS:
            return _constrained(plain, details)
        return annotation if plain is base else Annotated[(plain, *items)]


def _not_json(annotation: Any, cls: Any) -> Exception:
    module = getattr(cls, "__module__", "").partition(".")[0]
    if (module in sys.stdlib_module_names or not isinstance(cls, type)) and cls is not type:
        return Beyond(f"{type_name(annotation)} is not a JSON type")
    return RegistrationError(
        f"{type_name(annotation)} is not a JSON type; "
        "write a dataclass, TypedDict, msgspec.Struct or pydantic model"
    )


def check_applicable(base: Any, details: Details) -> None:
    """
    Raises:
        RegistrationError: a constraint has no meaning for the type.
    """
    for names, refused, limited in (
        (BOUNDS, WITHOUT_BOUNDS, "numbers and times"),
        (LENGTHS, WITHOUT_LENGTH, "strings and containers"),
        (("pattern",), WITHOUT_PATTERN, "strings"),
    ):
        name = next((name for name in names if name in details.constraints), None)
        if name is not None and (base in refused or is_text(base)):
            raise RegistrationError(f"{name} limits {limited}, not {type_name(base)}; leave it out")


def _constrained(annotation: Any, details: Details) -> Any:
    """The type with its metadata as `msgspec.Meta`. msgspec has no constraints on unions, only in them."""
    try:
        limits = msgspec.Meta(**details.constraints)
        about = msgspec.Meta(**details.about)
    except (TypeError, ValueError) as error:
        raise Beyond(str(error)) from None
    if details.constraints and form.bare(annotation) in form.UNIONS:
        annotation = _limit_members(annotation, limits)
    elif details.constraints:
        annotation = Annotated[annotation, limits]
    return Annotated[annotation, about] if details.about else annotation


def _limit_members(union: Any, limits: msgspec.Meta) -> Any:
    members = [member for member in get_args(union) if member is not type(None)]
    if len(members) > 1 and not all(member in form.NUMBERS for member in members):
        raise Beyond(f"{type_name(union)} has limits as a whole")
    parts = tuple(member if member is type(None) else Annotated[member, limits] for member in get_args(union))
    return Union[parts]  # noqa: UP007 - the parts are a tuple
