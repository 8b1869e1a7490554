"""From a tool's return value to its result: content and, if the return type allows, structured content.

The value is encoded once. The same bytes are the structured content, its text form, and what is checked
against the return type.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any, Final, get_args

import msgspec
from msgspec import Raw

from assay.model.content import BLOCKS, Audio, Block, File, Image, Text
from assay.model.error import RegistrationError
from assay.model.media import sniff
from assay.model.result import ToolResult
from assay.revisions.revision import Structured
from assay.server.types.pattern import without_patterns
from assay.server.types.reading import json_decoder, prepare
from assay.server.types.schema import schema_of, written_schema
from assay.server.types.validator import Validator

from .bad_output import BadOutput, type_name
from .library_value import RECORDS, Table, adapt, adapter_of, is_table, write_value

RAW: Final = (bytes, bytearray, memoryview)
BLANK: Final = (inspect.Parameter.empty, None, type(None), Any, object)
"""Return types that promise nothing."""
EXACT: Final = (str, *RAW, ToolResult, File, *BLOCKS)
"""Return types that need no conversion."""
PLAIN: Final = (*BLANK, *EXACT)
"""Return types without an output schema."""

SCALARS: Final = (int, bool)

ANYTHING: Final = "text, content blocks or a JSON value"
BLOCK_LIST: Final = "a list of content blocks, as in ToolResult([Text(...)])"
UNENCODABLE: Final = (TypeError, NotImplementedError, UnicodeEncodeError, RecursionError)

_encode: Final = msgspec.json.Encoder(enc_hook=write_value).encode


class Output:
    """Turns a tool's return value into its result."""

    __slots__ = ("_check", "_exact", "_expected", "_wrap", "_write", "adapts", "schema", "unwrapped_schema")

    def __init__(self, returns: Any, schema: Mapping[str, Any] | None = None) -> None:
        self._wrap = False
        self._exact = returns if returns in SCALARS else None
        """A type for which `type(value) is` is the whole check."""
        self._check: Callable[[bytes], Any] | None = None
        self._expected = "its output schema" if schema is not None else type_name(returns)
        self.adapts = schema is None and (is_table(returns) or (_is_plain(returns) and returns not in EXACT))
        """Whether values of other libraries may have to be adapted, which takes time."""
        self._write: Callable[[Any], bytes] = _encode
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
            problem = 'an output schema must have "type": "object" at its root'
            raise RegistrationError(f"{problem}: wrap other values in an object")
        self.schema = self.unwrapped_schema = schema
        self._check = _validate(schema)

    def _derive(self, returns: Any) -> None:
        prepared = prepare(RECORDS if is_table(returns) else returns)
        adapter, declared = prepared.by_pydantic, prepared.annotation
        schema = schema_of(prepared.described) if adapter is None else written_schema(adapter)
        self._wrap = schema.get("type") != "object"
        self.unwrapped_schema = schema
        self.schema = wrapped(schema) if self._wrap else schema
        if adapter is not None:
            self._write, self._check = adapter.write, _validate(schema)
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
            return ToolResult([Text(value)]) if type(value) is str else _plain_result(value, form)
        encoded = self._encoded(value)
        if type(value) is not self._exact:
            self._validate(value, encoded)
        if self._wrap and form is not Structured.ANY:
            encoded = b'{"result":' + encoded + b"}"
        return ToolResult([Text(encoded.decode())], Raw(encoded))

    def _check_result(self, result: ToolResult) -> None:
        content = result.content
        if not isinstance(content, list) or not all(isinstance(block, BLOCKS) for block in content):
            raise BadOutput(content, BLOCK_LIST)
        if self._check is not None and not result.is_error and not self._wrap:
            self._validate(result.structured, self._encoded(result.structured))

    def _encoded(self, value: Any) -> bytes:
        try:
            return self._write(value)
        except (*UNENCODABLE, ValueError) as error:
            raise BadOutput(value, self._expected, str(error)) from None

    def _validate(self, value: Any, encoded: bytes) -> None:
        assert self._check is not None
        try:
            self._check(encoded)
        except msgspec.ValidationError as error:
            text = str(error)
            # Two types that differ are named anyway.
            detail = "" if text.startswith("Expected `") and " - at " not in text else text
            raise BadOutput(value, self._expected, detail) from None


def _validate(schema: Mapping[str, Any]) -> Callable[[bytes], None]:
    validator = Validator(schema)

    def check(encoded: bytes) -> None:
        problem = validator.problem(msgspec.json.decode(encoded))
        if problem is not None:
            raise msgspec.ValidationError(problem)

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
    if adapter_of(returns) is not None:
        return not is_table(returns)
    arguments = [part for part in get_args(returns) if part is not type(None) and part is not ...]
    return bool(arguments) and any(_is_plain(part) and part not in (str, Any, object) for part in arguments)


def _plain_result(value: Any, form: Structured) -> ToolResult:
    """The result of a tool without an output schema."""
    value = adapt(value)
    if isinstance(value, Table):
        encoded = value.encoded if form is Structured.ANY else b'{"result":' + value.encoded + b"}"
        return ToolResult([Text(encoded.decode())], Raw(encoded))
    if value is None:
        return ToolResult([])
    if isinstance(value, list | tuple) and any(isinstance(item, BLOCKS) for item in value):
        return ToolResult([_block(item) for item in value])
    return ToolResult([_block(value)])


def _block(value: Any) -> Block:
    if isinstance(value, BLOCKS):
        return value
    if isinstance(value, str):
        return Text(value)
    if isinstance(value, RAW):
        return _block_of_bytes(bytes(value))
    try:
        return Text(_encode(value).decode())
    except UNENCODABLE as error:
        raise BadOutput(value, ANYTHING, str(error)) from None


def _block_of_bytes(data: bytes) -> Block:
    """Text if it is UTF-8, an image or a recording if it begins like one, otherwise a file."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        text = "\0"
    if "\0" not in text:
        return Text(text)
    kind = sniff(data)
    if kind.startswith("image/"):
        return Image(data, kind)
    return Audio(data, kind) if kind.startswith("audio/") else File(data, "result")
