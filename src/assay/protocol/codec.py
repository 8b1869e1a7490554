"""Bytes to messages and back. Arbitrary bytes give a message or `MalformedMessage`, nothing else.

The envelope is decoded once, with parameters left raw. Only when that fails is the body looked
at again, to tell bad JSON from a bad request and to find an id that the error can carry.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeVar

import msgspec
from msgspec import UNSET, Raw, UnsetType

from assay.model.error import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    PARSE_ERROR,
    MalformedMessage,
    RpcError,
)
from assay.model.jsonrpc import CallParams, DecodedParams, Envelope, ErrorBody, ErrorReply, Outcome, RequestId
from assay.model.limits import Limits

T = TypeVar("T")

encode: Final = msgspec.json.Encoder().encode
_decode_envelope: Final = msgspec.json.Decoder(Envelope).decode
_decode_items: Final = msgspec.json.Decoder(list[Raw]).decode
# As numbers, because bytes look up a number at once and anything else by way of an exception.
_OBJECT: Final = ord("{")
_ARRAY: Final = ord("[")
_RESERVED: Final = b"io.modelcontextprotocol"
_ESCAPE: Final = ord("\\")


_read_meta: Final = msgspec.json.Decoder(DecodedParams).decode
_read_call: Final = msgspec.json.Decoder(CallParams).decode


def decode(body: bytes, limits: Limits) -> Envelope | list[Envelope | MalformedMessage]:
    """One message, or the members of a batch.

    Raises:
        MalformedMessage: the body as a whole cannot be served.
    """
    # Nesting cannot exceed the number of opening brackets, and those are counted sooner than they are read.
    if (
        len(body) > limits.message_bytes
        or not body.isascii()
        or body.count(_OBJECT) + (body.count(_ARRAY) if _ARRAY in body else 0) > limits.depth
    ):
        check_bytes(body, limits)
    if body[:1] != b"{" and body.lstrip(b" \t\r\n")[:1] == b"[":
        return _decode_batch(body, limits)
    return decode_message(body)


def check_bytes(body: bytes, limits: Limits) -> None:
    """
    Raises:
        MalformedMessage: too large, not UTF-8, or nested too deep.
    """
    if len(body) > limits.message_bytes:
        raise MalformedMessage(
            INVALID_REQUEST, f"message too large: {len(body)} bytes, limit {limits.message_bytes}"
        )
    if not body.isascii():
        # Raw parameters are skipped over, not decoded: without this, bad UTF-8 in a part
        # that nobody reads would pass.
        _check_utf8(body)
    if _depth(body) > limits.depth:
        raise MalformedMessage(PARSE_ERROR, f"nested too deep: limit {limits.depth}")


def decode_message(body: bytes) -> Envelope:
    try:
        message = _decode_envelope(body)
    except (msgspec.DecodeError, RecursionError) as error:
        raise _diagnose(bytes(body), error) from None
    message.decoded_params = UNSET
    if message.method is UNSET:
        _check_response(message)
    elif not message.method:
        raise MalformedMessage(INVALID_REQUEST, "method must not be empty", known_id(message))
    elif message.result is not UNSET or message.error is not UNSET:
        raise MalformedMessage(
            INVALID_REQUEST, "a message has either a method or a result", known_id(message)
        )
    else:
        if memoryview(message.params)[0] != _OBJECT:
            _check_params(message)
        # Few handshake requests hold these bytes, so few are decoded here; an escape may hide them.
        if body.find(_RESERVED) >= 0 or _ESCAPE in body:
            message.decoded_params = _decode_params_of(message)
    return message


def _decode_params_of(message: Envelope) -> DecodedParams | UnsetType:
    decoded = _try_call(message.params) if message.method == "tools/call" else None
    if decoded is None:
        try:
            decoded = _read_meta(message.params)
        except (msgspec.DecodeError, RecursionError) as error:
            raise MalformedMessage(PARSE_ERROR, f"parse error: {error}", known_id(message)) from None
    return UNSET if decoded.meta is UNSET else decoded


def _try_call(params: Raw) -> DecodedParams | None:
    try:
        return _read_call(params)
    except (msgspec.DecodeError, RecursionError):
        return None  # the method refuses parameters of the wrong type, and says which


def decode_params(params: Raw, decoder: Callable[[Raw], T]) -> T:
    """Decode a method's parameters with that method's decoder; what does not fit is -32602."""
    try:
        return decoder(params)
    except msgspec.ValidationError as error:
        raise RpcError(INVALID_PARAMS, f"invalid params: {error}") from None
    except (msgspec.DecodeError, RecursionError) as error:
        raise RpcError(PARSE_ERROR, f"parse error: {error}") from None


def error_reply(error: RpcError, request_id: RequestId | None) -> ErrorReply:
    body = ErrorBody(error.code, error.message, UNSET if error.data is None else error.data)
    return ErrorReply(UNSET if request_id is None else request_id, body)


def encode_outcome(outcome: Outcome) -> bytes:
    """The answer as bytes; a result that JSON cannot hold becomes an internal error."""
    try:
        return encode(outcome)
    except (TypeError, ValueError, RecursionError):
        error = RpcError(INTERNAL_ERROR, "internal error: the result cannot be encoded")
        return encode(error_reply(error, None if outcome.id is UNSET else outcome.id))


def known_id(message: Envelope) -> RequestId | None:
    return None if message.id is UNSET else message.id


def _decode_batch(body: bytes, limits: Limits) -> list[Envelope | MalformedMessage]:
    try:
        items = _decode_items(body)
    except (msgspec.DecodeError, RecursionError) as error:
        raise MalformedMessage(PARSE_ERROR, f"parse error: {error}") from None
    if not items:
        raise MalformedMessage(INVALID_REQUEST, "a batch must not be empty")
    if len(items) > limits.batch:
        raise MalformedMessage(INVALID_REQUEST, f"batch too large: {len(items)}, limit {limits.batch}")
    return [_decode_member(item) for item in items]


def _decode_member(item: Raw) -> Envelope | MalformedMessage:
    try:
        return decode_message(bytes(item))
    except MalformedMessage as error:
        return error


def _check_response(message: Envelope) -> None:
    if (message.result is UNSET) == (message.error is UNSET):
        raise MalformedMessage(
            INVALID_REQUEST, "a message needs a method, or either a result or an error", known_id(message)
        )
    if message.id is UNSET and message.error is UNSET:
        raise MalformedMessage(INVALID_REQUEST, "a result needs the id of its request")


def _check_params(message: Envelope) -> None:
    # An explicit null is outside every schema, yet common; it can only mean "none".
    if bytes(message.params) != b"null":
        raise MalformedMessage(INVALID_REQUEST, "params must be an object", known_id(message))
    message.params = Raw(b"{}")


def _diagnose(body: bytes, error: Exception) -> MalformedMessage:
    """Why a body did not decode, by the strictest reading that still finds its id."""
    try:
        value: Any = msgspec.json.decode(body)
    except msgspec.DecodeError as bad_json:
        return MalformedMessage(PARSE_ERROR, f"parse error: {bad_json}")
    except RecursionError:
        return MalformedMessage(PARSE_ERROR, "parse error: nested too deep")
    if not isinstance(value, dict):
        return MalformedMessage(INVALID_REQUEST, "a message must be a JSON object")
    request_id = value.get("id")
    readable = isinstance(request_id, int | str) and not isinstance(request_id, bool)
    return MalformedMessage(INVALID_REQUEST, f"invalid request: {error}", request_id if readable else None)


def _check_utf8(body: bytes) -> None:
    try:
        body.decode("utf-8")
    except UnicodeDecodeError as error:
        raise MalformedMessage(PARSE_ERROR, f"parse error: invalid UTF-8 at byte {error.start}") from None


def _depth(body: bytes) -> int:
    """Deepest nesting, brackets inside strings left out."""
    deepest = depth = 0
    in_string = escaped = False
    for byte in body:
        if in_string:
            if escaped:
                escaped = False
            elif byte == 0x5C:
                escaped = True
            elif byte == 0x22:
                in_string = False
        elif byte == 0x22:
            in_string = True
        elif byte in b"{[":
            depth += 1
            deepest = max(deepest, depth)
        elif byte in b"}]":
            depth -= 1
    return deepest
