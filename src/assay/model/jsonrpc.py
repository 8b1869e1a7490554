"""The JSON-RPC envelope, in and out. Parameters and results stay raw here: whoever knows
their type decodes them, once."""

from __future__ import annotations

from typing import Any, Literal

from msgspec import UNSET, Raw, Struct, UnsetType, field

RequestId = int | str


class DecodedParams(Struct):
    """Parameters as far as they are read while their message is: for what the request says of its client."""

    meta: Raw | UnsetType = field(name="_meta", default=UNSET)


class CallParams(DecodedParams, rename="camel", kw_only=True):
    """The parameters of `tools/call`, read as a whole: the most frequent request is decoded once."""

    name: str
    arguments: Raw = Raw(b"{}")
    input_responses: Raw | UnsetType = UNSET
    request_state: str | UnsetType = UNSET


class Envelope(Struct):
    """One incoming message of any kind; `protocol.codec` has checked that it is exactly one kind."""

    jsonrpc: Literal["2.0"]
    method: str | UnsetType = UNSET
    id: RequestId | UnsetType = UNSET
    params: Raw = Raw(b"{}")
    result: Raw | UnsetType = UNSET
    error: Raw | UnsetType = UNSET
    decoded_params: DecodedParams | UnsetType = field(name="_decoded_params", default=UNSET)
    """Set by `protocol.codec` where parameters may declare the protocol, whatever came under that name."""


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
