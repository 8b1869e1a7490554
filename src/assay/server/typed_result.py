"""Results that say of themselves what they are, where the revision wants that.

The result is encoded once; what every result carries is put in front of it as bytes that were
made when the server was.
"""

from __future__ import annotations

from typing import Any

from msgspec import Raw

from assay.model.definition import Implementation
from assay.model.result import Cache, InputRequired, ToolResult
from assay.protocol.codec import encode
from assay.protocol.declaration import PREFIX

SERVER_INFO = f"{PREFIX}serverInfo"
SUBSCRIPTION = f"{PREFIX}subscriptionId"


class ResultWriter:
    """Writes results for one server."""

    def __init__(self, info: Implementation) -> None:
        self._info = info
        self._meta = {SERVER_INFO: info}
        self._complete = b'{"resultType":"complete","_meta":' + encode(self._meta)
        self._input_required = b'{"resultType":"input_required","_meta":' + encode(self._meta)

    def complete(self, result: Any, cache: Cache | None = None) -> Raw:
        meta = result.meta if type(result) is ToolResult else _meta_of(result)
        if meta is None and cache is None:
            encoded = encode(result)
            return Raw(self._complete + (b"}" if encoded == b"{}" else b"," + encoded[1:]))
        head = self._complete
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
