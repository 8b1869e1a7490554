"""The JSON-RPC envelope. Parameters and results stay raw, so that they are decoded once, by the code that
knows their type."""

from __future__ import annotations

from typing import Any, Literal

from msgspec import UNSET, Raw, Struct, UnsetType, field

RequestId = int | str


class DecodedParams(Struct):
    """The part of the parameters that is decoded with the message: `_meta`, where requests declare their
    client."""

    meta: Raw | UnsetType = field(name="_meta", default=UNSET)


class CallParams(DecodedParams, rename="camel", kw_only=True):
    """The parameters of `tools/call`, the most frequent request: decoded as a whole, and only once."""

    name: str
    arguments: Raw = Raw(b"{}")
    input_responses: Raw | UnsetType = UNSET
    request_state: str | UnsetType = UNSET


class Envelope(Struct):
    """An incoming message. `protocol.codec` checks that it is a request, a notification or a response."""

    jsonrpc: Literal["2.0"]
    method: str | UnsetType = UNSET
    id: RequestId | UnsetType = UNSET
    params: Raw = Raw(b"{}")
    result: Raw | UnsetType = UNSET
    error: Raw | UnsetType = UNSET
    decoded_params: DecodedParams | UnsetType = field(name="_decoded_params", default=UNSET)
    """Set by `protocol.codec` if the parameters may declare the client. A value on the wire is ignored."""


# The tag writes `"jsonrpc":"2.0"` into every outgoing message, without a field that callers could change.
class Reply(Struct, tag_field="jsonrpc", tag="2.0"):
    id: RequestId
    result: Any


class ErrorBody(Struct):
    code: int
    message: str
    data: Any = UNSET


class ErrorReply(Struct, tag_field="jsonrpc", tag="2.0"):
    """`id` is absent, never null, if the request's id was unreadable."""

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
