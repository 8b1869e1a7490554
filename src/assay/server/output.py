"""From a tool's return value to its result: content and, if the return type allows, structured content.

The value is encoded once. The same bytes are the structured content, its text form, and what is checked
against the return type.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final, get_args

import msgspec
from msgspec import Raw

from assay.model.content import BLOCKS, Text
from assay.model.error import RegistrationError
from assay.model.result import ToolResult
from assay.revisions.revision import Structured

from .custom_type import write_custom
from .pattern import without_patterns
from .reading import json_decoder, prepare
from .schema import schema_of, written_schema
from .validator import Validator

if TYPE_CHECKING:
    from .pydantic_adapter import PydanticAdapter

PLAIN: Final = (inspect.Parameter.empty, None, type(None), Any, object, str, bytes, ToolResult, *BLOCKS)
"""Return types without an output schema."""

SCALARS: Final = (int, bool)

_encode: Final = msgspec.json.Encoder(enc_hook=write_custom).encode


class BadOutput(TypeError):
    """A handler returned a value that does not match its declaration."""


class Output:
    """Turns a tool's return value into its result."""

    __slots__ = ("_check", "_exact", "_wrap", "_write", "schema", "unwrapped_schema")

    def __init__(self, returns: Any, schema: Mapping[str, Any] | None = None) -> None:
        self._wrap = False
        self._exact = returns if returns in SCALARS else None
        """A type for which `type(value) is` is the whole check."""
        self._check: Callable[[bytes], Any] | None = None
        self._write: Callable[[Any], bytes] = _encode_or_refuse
        self.schema: Mapping[str, Any] | None = None
        """The schema of the result as an object, with other types wrapped."""
        self.unwrapped_schema: Mapping[str, Any] | None = None
        """The schema of the return type itself."""
        if schema is not None:
            self._use(schema)
        elif not _is_plain(returns):
            self._derive(returns)

    def _use(self, schema: Mapping[str, Any]) -> None:
        if schema.get("type") != "object":
            raise RegistrationError('an output schema must have "type": "object" at its root')
        self.schema = self.unwrapped_schema = schema
        self._check = _validate(schema)

    def _derive(self, returns: Any) -> None:
        prepared = prepare(returns)
        adapter, declared = prepared.by_pydantic, prepared.annotation
        schema = schema_of(prepared.described) if adapter is None else written_schema(adapter)
        self._wrap = schema.get("type") != "object"
        self.unwrapped_schema = schema
        self.schema = wrapped(schema) if self._wrap else schema
        if adapter is not None:
            self._write, self._check = _writer(adapter), _validate(schema)
            return
        plain = without_patterns(declared)
        self._check = (
            json_decoder(plain) if plain is declared else _all_of(json_decoder(plain), _validate(schema))
        )

    def result(self, value: Any, form: Structured = Structured.OBJECT) -> ToolResult:
        """The result of a call. A value other than an object is wrapped in one unless `form` allows any
        value.

        Raises:
            BadOutput: the value does not match the declared type.
        """
        if isinstance(value, ToolResult):
            self._check_result(value)
            return value
        if self._check is None:
            return ToolResult(_blocks(value))
        encoded = self._write(value)
        if type(value) is not self._exact:
            try:
                self._check(encoded)
            except msgspec.ValidationError as error:
                raise BadOutput(str(error)) from None
        if self._wrap and form is not Structured.ANY:
            encoded = b'{"result":' + encoded + b"}"
        return ToolResult([Text(encoded.decode())], Raw(encoded))

    def _check_result(self, result: ToolResult) -> None:
        if self._check is not None and not result.is_error and not self._wrap:
            self._check(self._write(result.structured))


def _writer(adapter: PydanticAdapter) -> Callable[[Any], bytes]:
    def write(value: Any) -> bytes:
        try:
            return adapter.write(value)
        except ValueError as error:
            raise BadOutput(str(error)) from None

    return write


def _validate(schema: Mapping[str, Any]) -> Callable[[bytes], None]:
    validator = Validator(schema)

    def check(encoded: bytes) -> None:
        problem = validator.problem(msgspec.json.decode(encoded))
        if problem is not None:
            raise BadOutput(problem)

    return check


def _all_of(*checks: Callable[[bytes], Any]) -> Callable[[bytes], None]:
    def check(encoded: bytes) -> None:
        for each in checks:
            each(encoded)

    return check


def wrapped(schema: dict[str, Any]) -> dict[str, Any]:
    """Wrap a schema in an object, the only root that handshake revisions allow."""
    schema = dict(schema)
    definitions = schema.pop("$defs", None)
    outer: dict[str, Any] = {"type": "object", "properties": {"result": schema}, "required": ["result"]}
    if definitions:
        outer["$defs"] = definitions
    return outer


def _is_plain(returns: Any) -> bool:
    try:
        if returns in PLAIN:
            return True
    except TypeError:  # unhashable metadata in an annotation cannot be compared
        return False
    arguments = [part for part in get_args(returns) if part is not type(None) and part is not ...]
    return bool(arguments) and any(_is_plain(part) and part not in (str, Any, object) for part in arguments)


def _blocks(value: Any) -> list[Any]:
    if value is None:
        return []
    if isinstance(value, BLOCKS):
        return [value]
    if isinstance(value, str):
        return [Text(value)]
    if isinstance(value, list | tuple) and any(isinstance(item, BLOCKS) for item in value):
        return [item if isinstance(item, BLOCKS) else _text(item) for item in value]
    return [_text(value)]


def _text(value: Any) -> Text:
    return Text(value if isinstance(value, str) else _encode_or_refuse(value).decode())


def _encode_or_refuse(value: Any) -> bytes:
    try:
        return _encode(value)
    except (TypeError, NotImplementedError, UnicodeEncodeError) as error:
        raise BadOutput(f"cannot be written as JSON: {error}") from None
