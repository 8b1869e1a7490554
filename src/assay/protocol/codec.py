"""Decode bytes into messages, and encode messages. Any input gives a message or `MalformedMessage`.

The envelope is decoded once, with parameters left raw. Only if that fails is the body decoded again, to
distinguish bad JSON from a bad request and to find an id for the error.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Mapping
from functools import lru_cache
from itertools import accumulate
from typing import Any, Final, TypeVar

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

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
_skip: Final = msgspec.json.Decoder(Raw).decode
_decode_envelope: Final = msgspec.json.Decoder(Envelope).decode
# As numbers: `number in bytes` is a plain search, while other types go through a failed conversion first.
_OBJECT: Final = ord("{")
_ARRAY: Final = ord("[")
_RESERVED: Final = b"io.modelcontextprotocol"
_ESCAPE: Final = ord("\\")
_NUMBER_OR_TEXT: Final = frozenset(b'-0123456789"')
_read_meta: Final = msgspec.json.Decoder(DecodedParams).decode
_read_call: Final = msgspec.json.Decoder(CallParams).decode

_ONE_KIND: Final = bytes.maketrans(b"{}", b"[]")
_UNIMPORTANT: Final = bytes(set(range(256)) - set(b'{}[]"'))
_STEPS: Final = bytes.maketrans(b"[]", b"\x01\xff")
"""An opening bracket as 1, a closing one as -1."""
_SLICE: Final = 64 * 1024
"""Bytes that are examined at once, so that the pieces of a large body do not exist at the same time."""
_WINDOW: Final = 64
"""Brackets that are counted at once. Within the default limit of depth they need no closer look."""


def decode(body: bytes, limits: Limits) -> Envelope | list[Envelope | MalformedMessage]:
    """Decode one message, or the members of a batch.

    Raises:
        MalformedMessage: the whole body is unusable.
    """
    # The number of opening brackets bounds the nesting, and counting them is cheap: most bodies need no
    # closer look. A limit is needed because parsers and handlers recurse.
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
        MalformedMessage: too large, not UTF-8, not JSON, or nested too deep.
    """
    if len(body) > limits.message_bytes:
        raise MalformedMessage(
            INVALID_REQUEST, f"message too large: {len(body)} bytes, limit {limits.message_bytes}"
        )
    if not body.isascii():
        # Raw parameters are skipped, not decoded: bad UTF-8 in a parameter that no handler reads would pass.
        _check_utf8(body)
    try:
        # Brackets are counted only in valid JSON: most hostile bodies fail here, within their first bytes.
        _skip(body)
        too_deep = _is_deeper(body, limits.depth)
    except msgspec.DecodeError as error:
        raise MalformedMessage(PARSE_ERROR, f"parse error: {error}") from None
    except RecursionError:
        too_deep = True
    if too_deep:
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
        # Parameters with a reserved `_meta` key are needed before dispatch. Handshake requests rarely contain
        # one, and stay raw. A JSON escape may hide the key, so any escape counts, too.
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
        return None  # the method reports which parameter is wrong


def decode_params(params: Raw, decoder: Callable[[Raw], T]) -> T:
    """Decode a method's parameters with its own decoder.

    Raises:
        RpcError: invalid params (-32602), or not JSON (-32700).
    """
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
    """Encode an answer; a result that JSON cannot represent becomes an internal error."""
    try:
        return encode(outcome)
    except (TypeError, ValueError, RecursionError):
        error = RpcError(INTERNAL_ERROR, "internal error: the result cannot be encoded")
        return encode(error_reply(error, None if outcome.id is UNSET else outcome.id))


def known_id(message: Envelope) -> RequestId | None:
    return None if message.id is UNSET else message.id


def _decode_batch(body: bytes, limits: Limits) -> list[Envelope | MalformedMessage]:
    try:
        items = msgspec.structs.astuple(_batch_decoder(limits.batch)(body))
    except (msgspec.DecodeError, RecursionError) as error:
        raise MalformedMessage(PARSE_ERROR, f"parse error: {error}") from None
    members = [item for item in items if item is not UNSET]
    if not members:
        raise MalformedMessage(INVALID_REQUEST, "a batch must not be empty")
    if len(members) > limits.batch:
        raise MalformedMessage(INVALID_REQUEST, f"batch too large: limit {limits.batch}")
    return [_decode_member(item) for item in members]


@lru_cache(maxsize=16)
def _batch_decoder(limit: int) -> Callable[[bytes], Struct]:
    """Decodes one member more than the limit, to notice it, and skips the rest: anyone can send millions."""
    fields = [(f"member{number}", Raw | UnsetType, UNSET) for number in range(limit + 1)]
    return msgspec.json.Decoder(msgspec.defstruct("Batch", fields, array_like=True)).decode


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
    # No schema allows an explicit null, but clients send it, and it can only mean absence.
    if bytes(message.params) != b"null":
        raise MalformedMessage(INVALID_REQUEST, "params must be an object", known_id(message))
    message.params = Raw(b"{}")


class _WithId(Struct):
    id: Raw | UnsetType = UNSET


_decode_id: Final = msgspec.json.Decoder(_WithId).decode
_decode_any: Final = msgspec.json.Decoder(Raw).decode


def _diagnose(body: bytes, error: Exception) -> MalformedMessage:
    """Find out why a body did not decode, and the id of its request if that is readable."""
    try:
        request_id = _readable_id(body)
    except _NotObject:
        return MalformedMessage(INVALID_REQUEST, "a message must be a JSON object")
    except msgspec.DecodeError as bad_json:
        return MalformedMessage(PARSE_ERROR, f"parse error: {bad_json}")
    except RecursionError:
        return MalformedMessage(PARSE_ERROR, "parse error: nested too deep")
    return MalformedMessage(INVALID_REQUEST, f"invalid request: {error}", request_id)


class _NotObject(Exception):
    """The body is JSON, but not an object."""


def _readable_id(body: bytes) -> RequestId | None:
    """The id of a body. Nothing else is decoded: its lists and objects could cost far more than a message."""
    try:
        raw = _decode_id(body).id
    except msgspec.ValidationError:
        _decode_any(body)  # a text, a number or a list may be followed by something else
        raise _NotObject from None
    if raw is UNSET or memoryview(raw)[0] not in _NUMBER_OR_TEXT:
        return None
    request_id: Any = msgspec.json.decode(raw)
    return request_id if isinstance(request_id, int | str) else None


def _check_utf8(body: bytes) -> None:
    try:
        body.decode("utf-8")
    except UnicodeDecodeError as error:
        raise MalformedMessage(PARSE_ERROR, f"parse error: invalid UTF-8 at byte {error.start}") from None


def _is_deeper(body: bytes, limit: int) -> bool:
    """Whether objects and arrays are nested deeper than the limit.

    Anyone can send a body that needs this, so nothing here is a step of Python per byte: brackets are counted
    in C by the window, and only windows that come near the limit are looked at bracket by bracket, in C, too.
    """
    if _ESCAPE in body:
        body = body.replace(b"\\\\", b"").replace(b'\\"', b"")
    # Two quotes in a row change nothing for the brackets around them. Most strings are gone after this.
    marks = body.translate(_ONE_KIND, _UNIMPORTANT).replace(b'""', b"")
    depth = quotes = 0
    for start in range(0, len(marks), _SLICE):
        pieces = marks[start : start + _SLICE].split(b'"')
        brackets = b"".join(pieces[quotes % 2 :: 2])
        quotes += len(pieces) - 1
        for position in range(0, len(brackets), _WINDOW):
            window = brackets[position : position + _WINDOW]
            opened = window.count(_ARRAY)
            if depth + opened > limit and depth + _rise(window) > limit:
                return True
            depth += 2 * opened - len(window)
    return False


def _rise(brackets: bytes) -> int:
    """How far the nesting rises above its start."""
    return max(accumulate(array("b", brackets.translate(_STEPS))))


def as_bytes(message: bytes | str | Mapping[str, Any]) -> bytes:
    """A message from a host, encoded.

    Raises:
        MalformedMessage: it has a lone surrogate.
    """
    if isinstance(message, bytes):
        return message
    if isinstance(message, str):
        # Lone surrogates become invalid UTF-8, for the decoder to refuse.
        return message.encode("utf-8", "surrogatepass")
    try:
        return encode(message)
    except UnicodeEncodeError:
        # `json.loads` accepts lone surrogates, so a client can put them into a host's mapping.
        raise MalformedMessage(PARSE_ERROR, "parse error: a lone surrogate is not a character") from None
