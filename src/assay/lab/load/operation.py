"""One request of the traffic, encoded once: only its id differs from one sending to the next."""

from __future__ import annotations

from typing import Any, Final

import msgspec
from msgspec import Struct

from assay.lab.harness.driver.message_meta import declared, mirror_headers
from assay.model.send_time import TIMED
from assay.revisions.revision import Revision

FIRST_ID: Final = 10**9
"""Ids have ten digits, so that a body has the same length every time."""
_MARKS: Final = range(8_675_309_042, 8_675_310_042)


class Operation(Struct, frozen=True, kw_only=True):
    """`kind` is what results are grouped by: `lists`, `calls`, `reads`, `prompts`, `streams`, `sessions`."""

    kind: str
    name: str
    """For people: the method, and the tool or URI."""
    method: str
    params: dict[str, Any] = {}
    headers: dict[str, str] = {}
    """Headers that mirror arguments, in the revisions that require them."""
    weight: int = 1
    is_stream: bool = False
    """Whether a progress token is sent, and the messages before the answer are timed."""


class EncodedOperation(Struct, frozen=True):
    """The body around its id: `digits.join(parts)`."""

    parts: tuple[bytes, ...]
    headers: dict[str, str]
    """For HTTP."""

    @property
    def size(self) -> int:
        return sum(map(len, self.parts)) + len(str(FIRST_ID)) * (len(self.parts) - 1)


def encode(operation: Operation, revision: Revision) -> EncodedOperation:
    mark = next(number for number in _MARKS if str(number) not in str(operation.params))
    params: dict[str, Any] = dict(operation.params)
    if operation.is_stream:
        params["_meta"] = {"progressToken": mark, TIMED: True}
    full = declared(revision, params, {})
    message = {"jsonrpc": "2.0", "id": mark, "method": operation.method}
    if full or operation.params:
        message["params"] = full
    body = msgspec.json.encode(message)
    headers: dict[str, str] = {}
    if revision.http.mirrored:
        mirrored = mirror_headers(revision, message)
        headers = {name: value for name, value in mirrored.items() if value is not None}
        headers |= operation.headers
    return EncodedOperation(tuple(body.split(str(mark).encode())), headers)


def message_bytes(encoded: EncodedOperation, request_id: int) -> bytes:
    return str(request_id).encode().join(encoded.parts)
