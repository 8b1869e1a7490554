"""Types that pydantic reads, describes and writes. Imported only if an annotation asks for it.

Values are read in pydantic's strict mode, as msgspec reads them: the string "3" is not an int. A value that
strict mode refuses is still accepted if it fits the published schema and pydantic's lax mode, such as a date
for a `datetime`.
"""

from __future__ import annotations

import functools
from typing import Any, Final, Literal

import msgspec
import pydantic
import pydantic_core
from pydantic.json_schema import GenerateJsonSchema

from assay.model.error import RegistrationError

from . import chosen_hash
from .problem import one_line, type_name
from .pydantic_risk import check_risks, hashes_values
from .self_union import READS, self_union
from .validator import Validator

MOST_PROBLEMS: Final = 3
"""Of one value, in a message."""
MOST_CONVERTED: Final = 100
"""pydantic finds all problems of a value, which may be a hundred thousand, and converts them all or none."""
MOST_CONVERTED_OF_VALIDATORS: Final = 1000
"""The same, of a value that fits the schema: only the author's functions can name the problem."""
LARGE: Final = 32 * 1024
"""Bytes from which on a value is compared with the schema first, which ends at the first problem."""
BYTES: Final = pydantic.ConfigDict(val_json_bytes="base64", ser_json_bytes="base64")

TOO_DEEP: Final = "nested too deeply for a union whose members have no discriminator"

CANNOT_READ: Final = (
    *(pydantic.PydanticUserError, pydantic_core.SchemaError, TypeError, ImportError, NameError),
)
"""What pydantic raises for a type that it does not support."""

Mode = Literal["validation", "serialization"]


class _Schemas(GenerateJsonSchema):
    """Schemas without the titles that pydantic makes of the names of fields."""

    ignored_warning_kinds = {"non-serializable-default", "skipped-choice"}  # noqa: RUF012 - as pydantic has it

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False


class PydanticAdapter:
    """A type that pydantic reads.

    Args:
        annotation: The type.
        base64: Whether bytes are Base64 in JSON, as everywhere in MCP.

    Raises:
        RegistrationError: pydantic cannot read or describe it.
    """

    def __init__(self, annotation: Any, *, base64: bool = True) -> None:
        self._name = type_name(annotation)
        try:
            self._adapter = _adapter(annotation, BYTES if base64 else None)
            self._self_union = self_union(self.schema(), tagged=False)
        except CANNOT_READ as error:
            raise RegistrationError(f"{self._name}: pydantic cannot read it: {_reason(error)}") from None
        check_risks(self._adapter.core_schema)
        self._is_hashed = hashes_values(self._adapter.core_schema)

    def schema(self, mode: Mode = "validation") -> dict[str, Any]:
        return self._adapter.json_schema(
            by_alias=True, mode=mode, ref_template="#/$defs/{model}", schema_generator=_Schemas
        )

    @functools.cached_property
    def _validator(self) -> Validator:
        return Validator(self.schema())

    def read_json(self, raw: Any, place: str = "$") -> Any:
        """
        Raises:
            msgspec.ValidationError: the value does not fit; the message names where.
        """
        try:
            return self._read(bytes(raw))
        except _Refused as refused:
            raise msgspec.ValidationError(refused.with_places(place)) from None

    def read_value(self, value: Any) -> Any:
        """Read a value that has been decoded already.

        Raises:
            ValueError: it does not fit. msgspec's decoder adds where.
        """
        try:
            return self._read(msgspec.json.encode(value))
        except _Refused as refused:
            raise ValueError(refused.with_paths()) from None

    def read_text(self, text: Any, place: str = "$") -> Any:
        """Read a value that is a string on the wire: as text if the type allows that, else as JSON.

        Raises:
            msgspec.ValidationError: it does not fit.
        """
        try:
            return self._adapter.validate_strings(text)
        except pydantic.ValidationError as error:
            try:
                return self._read(text.encode())
            except _Refused as refused:
                is_json = text.lstrip()[:1] in ("{", "[")
                reason = refused if is_json else _Refused.from_error(error, text)
                raise msgspec.ValidationError(reason.with_places(place)) from None
        except OSError as error:
            raise msgspec.ValidationError(_Refused.from_system(error).with_places(place)) from None

    def write(self, value: Any) -> bytes:
        """The JSON of a value that a handler returned.

        Raises:
            ValueError: it is not of this type.
        """
        try:
            typed = self._adapter.validate_python(value)
            return self._adapter.dump_json(typed, by_alias=True, warnings="none")
        except pydantic.ValidationError as error:
            raise ValueError(_Refused.from_error(error, value).with_paths()) from None
        except pydantic_core.PydanticSerializationError as error:
            raise ValueError(one_line(str(error))) from None

    def _read(self, source: bytes) -> Any:
        """
        Raises:
            _Refused: it does not fit.
        """
        if self._self_union is not None and self._self_union.costs_more(_decoded(source), READS):
            raise _Refused([("", TOO_DEEP)])
        if self._is_hashed and chosen_hash.collide(source):
            raise _Refused([("", chosen_hash.TEXT)])
        if len(source) > LARGE and (problem := self._schema_problem(source)) is not None:
            raise _Refused([problem])
        try:
            return self._adapter.validate_json(source, strict=True)
        except pydantic.ValidationError as error:
            problem = self._schema_problem(source)
            if problem is None:
                return self._read_lax(source, error)
            if error.error_count() > MOST_CONVERTED:
                raise _Refused([problem]) from None
            raise _Refused.from_error(error, msgspec.json.decode(source)) from None
        except OSError as error:
            raise _Refused.from_system(error) from None

    def _read_lax(self, source: bytes, strict_error: pydantic.ValidationError) -> Any:
        try:
            return self._adapter.validate_json(source)
        except pydantic.ValidationError:
            if strict_error.error_count() > MOST_CONVERTED_OF_VALIDATORS:
                raise _Refused([("", f"{strict_error.error_count()} parts of it do not fit")]) from None
            raise _Refused.from_error(strict_error, _decoded(source)) from None

    def _schema_problem(self, source: bytes) -> tuple[str, str] | None:
        """Where and how the JSON does not fit the schema. What is not JSON is left to pydantic."""
        try:
            problem = self._validator.problem(msgspec.json.decode(source))
        except msgspec.DecodeError:
            return None
        if problem is None:
            return None
        text, _, path = problem.rpartition(" - at `$")
        return path.rstrip("`"), text


class _Refused(Exception):
    """A value does not fit: where and what, for the first problems, and how many more there are."""

    def __init__(self, problems: list[tuple[str, str]], more: int = 0) -> None:
        self._problems = problems
        self._more = f"; and {more} more" if more > 0 else ""

    @classmethod
    def from_error(cls, error: pydantic.ValidationError, value: Any) -> _Refused:
        listed = error.errors(include_url=False, include_context=False, include_input=False)[:MOST_PROBLEMS]
        problems = [
            (_path(each["loc"], value, each["type"] == "missing"), one_line(each["msg"])) for each in listed
        ]
        return cls(problems, error.error_count() - MOST_PROBLEMS)

    @classmethod
    def from_system(cls, error: OSError) -> _Refused:
        """For a path that the system cannot look up. The error would quote all of it."""
        return cls([("", error.strerror or "cannot be read")])

    def with_places(self, place: str) -> str:
        return "; ".join(f"{text} - at `{place}{path}`" for path, text in self._problems) + self._more

    def with_paths(self) -> str:
        problems = (f"{path.lstrip('.')}: {text}" if path else text for path, text in self._problems)
        return "; ".join(problems) + self._more


def _decoded(source: bytes) -> Any:
    try:
        return msgspec.json.decode(source)
    except msgspec.DecodeError:
        return None


def _adapter(annotation: Any, config: pydantic.ConfigDict | None) -> pydantic.TypeAdapter[Any]:
    try:
        return pydantic.TypeAdapter(annotation, config=config)
    except pydantic.PydanticUserError as error:
        if error.code != "type-adapter-config-unused":
            raise
    return pydantic.TypeAdapter(annotation)  # a model or dataclass, which has its own configuration


def _reason(error: Exception) -> str:
    """The first sentence of an error, because the others are about pydantic's own settings; and what to write
    instead, unless that sentence says it."""
    text = one_line(getattr(error, "message", str(error))).partition(". ")[0].rstrip(".")
    if isinstance(error, ImportError) or getattr(error, "code", None) == "typed-dict-version":
        return text
    return f"{text}; write a type that JSON can hold, such as a dataclass or pydantic model"


def _path(location: tuple[int | str, ...], value: Any, is_missing: bool) -> str:
    """A location in JSON, without the names that pydantic gives to the members of unions."""
    path = ""
    for number, part in enumerate(location, 1):
        if _has(value, part):
            value = value[part]
        elif not (is_missing and number == len(location)):
            continue
        path += f"[{part}]" if isinstance(part, int) else f".{one_line(part)}"
    return path


def _has(value: Any, part: int | str) -> bool:
    if isinstance(value, list):
        return isinstance(part, int) and part < len(value)
    return isinstance(value, dict) and part in value
