"""Results that say of themselves what they are, where the revision wants that.

The result is encoded once; what every result carries is put in front of it as bytes that were
made when the server was.
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
    """The result of a tool with what every result carries: the most frequent result is encoded once."""

    result_type: str
    meta: Any = field(name="_meta")
    content: list[Block]
    structured: Any = field(name="structuredContent", default=None)
    is_error: bool = False


class ResultWriter:
    """Writes results for one server."""

    def __init__(self, info: Implementation) -> None:
        self._info = info
        self._meta = {SERVER_INFO: info}
        self._raw_meta = Raw(encode(self._meta))
        self._complete = b'{"resultType":"complete","_meta":' + encode(self._meta)
        self._input_required = b'{"resultType":"input_required","_meta":' + encode(self._meta)

    def complete(self, result: Any, cache: Cache | None = None) -> Any:
        """What to encode in place of the result."""
        if type(result) is ToolResult and cache is None:
            own = self._raw_meta if result.meta is None else self._meta | result.meta
            return _Complete("complete", own, result.content, result.structured, result.is_error)
        head, meta = self._complete, _meta_of(result)
        if meta:
            # The result has a `_meta` of its own: the two become one.
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
