"""Readers of values: from JSON, or from strings as in prompts and URIs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

import msgspec
from msgspec import Raw

from .custom_type import read_custom
from .prepared_type import Prepared, is_simple

Read = Callable[[Any], Any]
ReadAt = Callable[[Any, str], Any]
"""Reads a value at a place in the arguments, which messages name."""


def prepare(annotation: Any) -> Prepared:
    """Decide which library reads a type.

    Raises:
        RegistrationError: none can, or a constraint could not be checked.
    """
    if is_simple(annotation):
        return Prepared(annotation, annotation)
    # Imported here: most handlers take simple types only.
    from .annotation import prepare_type

    return prepare_type(annotation)


def json_decoder(annotation: Any) -> Read:
    return msgspec.json.Decoder(annotation, dec_hook=read_custom).decode


def text_converter(annotation: Any) -> Read:
    """Reads arguments that are strings on the wire. It is not strict, so that "3" becomes an int."""

    def convert(arguments: Any) -> Any:
        return msgspec.convert(arguments, annotation, strict=False, dec_hook=read_custom)

    return convert


def _late_in_json(prepared: Prepared, _: Any) -> ReadAt | None:
    return None if prepared.by_pydantic is None else prepared.by_pydantic.read_json


def _late_in_text(prepared: Prepared, plain: Any) -> ReadAt | None:
    if prepared.by_pydantic is not None:
        return prepared.by_pydantic.read_text
    return json_text_reader(plain) if prepared.is_structure else None


def json_text_reader(annotation: Any) -> ReadAt:
    """Reads a structure from a string with its JSON."""
    decode = json_decoder(annotation)

    def read(text: Any, place: str) -> Any:
        try:
            return decode(text)
        except msgspec.ValidationError as error:
            message, _, path = str(error).partition(" - at `$")
            raise msgspec.ValidationError(f"{message} - at `{place}{path.rstrip('`')}`") from None
        except (msgspec.DecodeError, RecursionError):
            raise msgspec.ValidationError(f"Expected JSON text - at `{place}`") from None

    return read


class Wire(NamedTuple):
    """How arguments arrive."""

    make: Callable[[Any], Read]
    """Makes the reader of a type."""
    unread: Any
    """The type of a value that is read later, by another library."""
    late: Callable[[Prepared, Any], ReadAt | None]
    """The reader of a type that is read later. It also takes the type without its patterns."""
    load: Read
    """From arguments to plain values; `store` is the reverse."""
    store: Read


AS_JSON: Final = Wire(json_decoder, Raw, _late_in_json, msgspec.json.decode, msgspec.json.encode)
AS_TEXT: Final = Wire(text_converter, Any, _late_in_text, dict, dict)
