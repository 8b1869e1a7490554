"""Types that pydantic reads, describes and writes. Imported only if an annotation asks for it.

Values are read in pydantic's strict mode, as msgspec reads them: the string "3" is not an int. A value that
strict mode refuses is still accepted if it fits the published schema and pydantic's lax mode, such as a date
for a `datetime`.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any, Final, Literal

import msgspec
import pydantic
import pydantic_core
from pydantic.json_schema import GenerateJsonSchema

from assay.model.error import RegistrationError

from .problem import one_line, type_name
from .validator import Validator

MOST_PROBLEMS: Final = 3
"""Of one value, in a message."""
BYTES: Final = pydantic.ConfigDict(val_json_bytes="base64", ser_json_bytes="base64")

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
            self.schema()
        except CANNOT_READ as error:
            raise RegistrationError(f"{self._name}: pydantic cannot read it: {_reason(error)}") from None

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
        source = bytes(raw)
        try:
            return self._read(source)
        except pydantic.ValidationError as error:
            raise _refusal(error, msgspec.json.decode(source), place) from None

    def read_value(self, value: Any) -> Any:
        """Read a value that has been decoded already.

        Raises:
            ValueError: it does not fit. msgspec's decoder adds where.
        """
        try:
            return self._read(msgspec.json.encode(value))
        except pydantic.ValidationError as error:
            raise ValueError(_message(error, value)) from None

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
            except pydantic.ValidationError:
                raise _refusal(error, text, place) from None

    def write(self, value: Any) -> bytes:
        """The JSON of a value that a handler returned.

        Raises:
            ValueError: it is not of this type.
        """
        try:
            typed = self._adapter.validate_python(value)
            return self._adapter.dump_json(typed, by_alias=True, warnings="none")
        except pydantic.ValidationError as error:
            raise ValueError(_message(error, value)) from None
        except pydantic_core.PydanticSerializationError as error:
            raise ValueError(one_line(str(error))) from None

    def _read(self, source: bytes) -> Any:
        try:
            return self._adapter.validate_json(source, strict=True)
        except pydantic.ValidationError as error:
            try:
                value = self._adapter.validate_json(source)
            except pydantic.ValidationError:
                raise error from None
            if self._validator.problem(msgspec.json.decode(source)) is not None:
                raise error from None
            return value


def _adapter(annotation: Any, config: pydantic.ConfigDict | None) -> pydantic.TypeAdapter[Any]:
    try:
        return pydantic.TypeAdapter(annotation, config=config)
    except pydantic.PydanticUserError as error:
        if error.code != "type-adapter-config-unused":
            raise
    return pydantic.TypeAdapter(annotation)  # a model or dataclass, which has its own configuration


def _reason(error: Exception) -> str:
    """The first sentence of an error: the others are about pydantic's own settings."""
    text = one_line(getattr(error, "message", str(error)))
    return text.partition(". ")[0].rstrip(".")


def _refusal(error: pydantic.ValidationError, value: Any, place: str) -> msgspec.ValidationError:
    problems = [f"{text} - at `{place}{path}`" for path, text in _problems(error, value)]
    return msgspec.ValidationError("; ".join(problems) + _more(error))


def _message(error: pydantic.ValidationError, value: Any) -> str:
    problems = _problems(error, value)
    listed = (f"{path.lstrip('.')}: {text}" if path else text for path, text in problems)
    return "; ".join(listed) + _more(error)


def _problems(error: pydantic.ValidationError, value: Any) -> Iterator[tuple[str, str]]:
    """Where and what, for the first problems."""
    problems = error.errors(include_url=False, include_context=False, include_input=False)
    for problem in problems[:MOST_PROBLEMS]:
        yield _path(problem["loc"], value, problem["type"] == "missing"), one_line(problem["msg"])


def _more(error: pydantic.ValidationError) -> str:
    left = error.error_count() - MOST_PROBLEMS
    return f"; and {left} more" if left > 0 else ""


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
