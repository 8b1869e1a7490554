"""The JSON-RPC envelope, in and out. Parameters and results stay raw here: whoever knows
their type decodes them, once."""

from __future__ import annotations

from typing import Any, Literal

from msgspec import UNSET, Raw, Struct, UnsetType, field

RequestId = int | str


class Envelope(Struct):
    """One incoming message of any kind; `protocol.codec` has checked that it is exactly one kind."""

    jsonrpc: Literal["2.0"]
    method: str | UnsetType = UNSET
    id: RequestId | UnsetType = UNSET
    params: Raw = Raw(b"{}")
    result: Raw | UnsetType = UNSET
    error: Raw | UnsetType = UNSET
    meta: Raw | UnsetType = field(name="_meta", default=UNSET)
    """The request's own `params._meta`, where it declares the protocol; set by `protocol.codec`, whatever
    stood beside `params` under that name."""


# The tag writes `"jsonrpc":"2.0"` first on every outgoing message without a field that callers could change.
class Reply(Struct, tag_field="jsonrpc", tag="2.0"):
    id: RequestId
    result: Any


class ErrorBody(Struct):
    code: int
    message: str
    data: Any = UNSET


class ErrorReply(Struct, tag_field="jsonrpc", tag="2.0"):
    """`id` is left out, never null, when the request's id was unreadable."""

    id: RequestId | UnsetType
    error: ErrorBody


class Request(Struct, tag_field="jsonrpc", tag="2.0"):
    id: RequestId
    method: str
    params: Any = UNSET


class Notification(Struct, tag_field="jsonrpc", tag="2.0"):
    method: str
    params: Any = UNSET


Outcome = Reply | ErrorReply
