"""Results with `resultType`, `_meta` and caching hints, in the revisions that require them.

The result itself is encoded once. What all results have in common is prepended as bytes that are encoded when
the server is created.
"""

from __future__ import annotations

from typing import Any

from msgspec import Raw, Struct, field

from assay.model.content import Block
from assay.model.definition import Implementation
from assay.model.result import Cache, InputRequired, ToolResult
from assay.protocol.codec import encode
from assay.protocol.declaration import PREFIX

SERVER_INFO = f"{PREFIX}serverInfo"
SUBSCRIPTION = f"{PREFIX}subscriptionId"


class _Complete(Struct, omit_defaults=True, rename="camel"):
    """A tool's result with the common fields: the most frequent result needs only one encoding."""

    result_type: str
    meta: Any = field(name="_meta")
    content: list[Block]
    is_error: bool
    structured: Any = field(name="structuredContent", default=None)


class OtherResult(Struct):
    """A result with another `resultType`, which an extension adds."""

    result_type: str
    fields: dict[str, Any]


class ResultWriter:
    """Writes results for one server."""

    def __init__(self, info: Implementation) -> None:
        self._info = info
        self._meta = {SERVER_INFO: info}
        self._raw_meta = Raw(encode(self._meta))
        self._complete = b'{"resultType":"complete","_meta":' + encode(self._meta)
        self._input_required = b'{"resultType":"input_required","_meta":' + encode(self._meta)

    def complete(self, result: Any, cache: Cache | None = None) -> Any:
        """The object to encode instead of the result."""
        if type(result) is ToolResult and cache is None:
            meta = self._raw_meta if result.meta is None else self._meta | result.meta
            return _Complete("complete", meta, result.content, result.is_error, result.structured)
        if type(result) is OtherResult:
            head = b'{"resultType":' + encode(result.result_type) + b',"_meta":' + self._raw_meta
            return _join(head, encode(result.fields))
        head, meta = self._complete, _meta_of(result)
        if meta:
            # The result has its own `_meta`: merge the two.
            head = b'{"resultType":"complete","_meta":' + encode(self._meta | meta)
            result = _without_meta(result)
        hints = b"" if cache is None else b"," + encode(cache)[1:-1]
        return _join(head + hints, encode(result))

    def input_required(self, result: InputRequired) -> Raw:
        return _join(self._input_required, encode(result))


def _join(head: bytes, result: bytes) -> Raw:
    return Raw(head + b"}" if result == b"{}" else head + b"," + result[1:])


def _meta_of(result: Any) -> Any:
    return result.get("_meta") if isinstance(result, dict) else getattr(result, "meta", None)


def _without_meta(result: Any) -> Any:
    if isinstance(result, dict):
        return {key: value for key, value in result.items() if key != "_meta"}
    copy = type(result)(*(getattr(result, name) for name in result.__struct_fields__))
    copy.meta = None
    return copy
