"""Headers that mirror the body, so that proxies can route by them (basic/transports/streamable-http).

A proxy may authorize by these headers, so any difference from the body MUST be refused.
"""

from __future__ import annotations

import binascii
from base64 import b64decode
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Final

import msgspec
from msgspec import UNSET, Struct, UnsetType

from assay.model.error import HEADER_MISMATCH, RpcError
from assay.model.jsonrpc import Envelope
from assay.revisions.registry import PER_REQUEST
from assay.revisions.revision import HttpRules

OPEN: Final = "=?base64?"
CLOSE: Final = "?="
VERSION: Final = ("MCP-Protocol-Version", b"mcp-protocol-version")
METHOD: Final = ("Mcp-Method", b"mcp-method")
NAME: Final = ("Mcp-Name", b"mcp-name")
UNKNOWN: Final = object()
ENCODED: Final[Mapping[str, bytes]] = {
    word: word.encode() for revision in PER_REQUEST for word in (revision.date, *revision.requests)
}
"""Versions and methods as bytes, for a direct comparison. Any other value is decoded and compared."""


def parameter_of_extension(method: str) -> str | None:
    """The parameter that the name header repeats, for a method of an extension."""
    # Not at the top: few messages belong to extensions.
    from assay.extensions.registry import EXTENSIONS

    return next((each.mirrored[method] for each in EXTENSIONS if method in each.mirrored), None)


class _WithName(Struct):
    name: str | UnsetType = UNSET


class _WithUri(Struct):
    uri: str | UnsetType = UNSET


# Each decodes one parameter only: an invalid value of the other must not leave this one unchecked.
_decode_name = msgspec.json.Decoder(_WithName).decode
_decode_uri = msgspec.json.Decoder(_WithUri).decode


def read_value(raw: bytes) -> str:
    """Decode a header value: plain text, or `=?base64?…?=`.

    Raises:
        RpcError: it has characters that no header may contain, or invalid Base64.
    """
    value = read_plain(raw)
    if not (value.startswith(OPEN) and value.endswith(CLOSE) and len(value) >= len(OPEN) + len(CLOSE)):
        return value
    try:
        return b64decode(value[len(OPEN) : -len(CLOSE)], validate=True).decode("utf-8")
    except (binascii.Error, ValueError):
        raise RpcError(HEADER_MISMATCH, "a header value has invalid Base64") from None


def read_plain(raw: bytes) -> str:
    """
    Raises:
        RpcError: it has characters that need the Base64 form.
    """
    value = raw.strip(b" \t").decode("latin-1")
    if not (value.isascii() and value.isprintable()):
        raise RpcError(HEADER_MISMATCH, "a header value has characters that must be sent in Base64 form")
    return value


def check_mirrors(
    message: Envelope, version: str, headers: Mapping[bytes, bytes], rules: HttpRules | None
) -> None:
    """Compare the standard headers with the message.

    Raises:
        RpcError: one is missing or differs.
    """
    method: str = message.method  # type: ignore[assignment]
    if headers.get(b"mcp-method") != ENCODED.get(method, UNKNOWN) or headers.get(
        b"mcp-protocol-version"
    ) != ENCODED.get(version, UNKNOWN):
        _compare(headers, VERSION, version, read_plain)
        _compare(headers, METHOD, method, read_plain)
    if rules is not None and rules.mirrored is not None and method in rules.mirrored:
        _compare_name(message, headers, rules.mirrored[method])


def check_name(headers: Mapping[bytes, bytes], name: str) -> None:
    """Compare `Mcp-Name` with the name in the parameters.

    Raises:
        RpcError: it is missing or differs.
    """
    raw = headers.get(b"mcp-name", b"")
    if raw == name.encode() and raw.isascii() and name.isidentifier():
        return
    if len(raw) + len(name) > CACHED_BYTES or not _agrees(raw, name, read_value):
        _compare(headers, NAME, name, read_value)


def _compare_name(message: Envelope, headers: Mapping[bytes, bytes], parameter: str) -> None:
    try:
        params = message.params
        value = _decode_name(params).name if parameter == "name" else _decode_uri(params).uri
    except msgspec.DecodeError:
        return  # the method reports which parameter is wrong
    if value is not UNSET:
        _compare(headers, NAME, value, read_value)


CACHED_BYTES: Final = 256
"""Longer values are not cached: anyone can send them."""


@lru_cache(maxsize=1024)
def _agrees(raw: bytes, expected: str, read: Callable[[bytes], str]) -> bool:
    return read(raw) == expected


def _compare(
    headers: Mapping[bytes, bytes], header: tuple[str, bytes], expected: str, read: Callable[[bytes], str]
) -> None:
    name, key = header
    raw = headers.get(key)
    if raw is None:
        raise RpcError(HEADER_MISMATCH, f"header missing: {name}")
    # A client repeats the same few values, so comparisons are cached.
    agreed = (
        _agrees(raw, expected, read) if len(raw) <= CACHED_BYTES >= len(expected) else read(raw) == expected
    )
    if not agreed:
        raise RpcError(HEADER_MISMATCH, f"header differs from the body: {name}")
