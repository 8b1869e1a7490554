"""Headers that repeat what the body says, so that whatever stands between can route without reading it.

They are only worth something if they tell the truth: every difference is refused.
"""

from __future__ import annotations

import binascii
from base64 import b64decode
from collections.abc import Mapping
from typing import Final

import msgspec
from msgspec import UNSET, Struct, UnsetType

from assay.model.error import HEADER_MISMATCH, RpcError
from assay.model.jsonrpc import Envelope
from assay.revisions.revision import HttpRules

OPEN: Final = "=?base64?"
CLOSE: Final = "?="
VERSION: Final = ("MCP-Protocol-Version", b"mcp-protocol-version")
METHOD: Final = ("Mcp-Method", b"mcp-method")
NAME: Final = ("Mcp-Name", b"mcp-name")


class _Named(Struct):
    name: str | UnsetType = UNSET
    uri: str | UnsetType = UNSET


_decode_named = msgspec.json.Decoder(_Named).decode


def read_value(raw: bytes) -> str:
    """The text of a header value: as it stands, or decoded from its Base64 form.

    Raises:
        RpcError: it holds what no header may hold, or is no proper Base64.
    """
    value = raw.strip(b" \t").decode("latin-1")
    if not (value.isascii() and value.isprintable()):
        raise RpcError(HEADER_MISMATCH, "a header value holds characters that must be sent in Base64 form")
    if not (value.startswith(OPEN) and value.endswith(CLOSE) and len(value) >= len(OPEN) + len(CLOSE)):
        return value
    try:
        return b64decode(value[len(OPEN) : -len(CLOSE)], validate=True).decode("utf-8")
    except (binascii.Error, ValueError):
        raise RpcError(HEADER_MISMATCH, "a header value is no proper Base64") from None


def check_mirrors(
    message: Envelope, version: str, headers: Mapping[bytes, bytes], rules: HttpRules | None
) -> None:
    """Compare the standard headers with the message.

    Raises:
        RpcError: one is missing or differs.
    """
    _compare(headers, VERSION, version)
    _compare(headers, METHOD, str(message.method))
    parameter = None if rules is None or rules.mirrored is None else rules.mirrored.get(str(message.method))
    if parameter is not None:
        _compare_name(message, headers, parameter)


def _compare_name(message: Envelope, headers: Mapping[bytes, bytes], parameter: str) -> None:
    try:
        named = _decode_named(message.params)
    except msgspec.DecodeError:
        return  # the method itself refuses parameters of the wrong type, and says which
    value = named.name if parameter == "name" else named.uri
    if value is not UNSET:
        _compare(headers, NAME, value)


def _compare(headers: Mapping[bytes, bytes], header: tuple[str, bytes], expected: str) -> None:
    name, key = header
    raw = headers.get(key)
    if raw is None:
        raise RpcError(HEADER_MISMATCH, f"header missing: {name}")
    if raw == expected.encode() and not expected.startswith(OPEN):
        return  # nearly always: the plain text itself
    if read_value(raw) != expected:
        raise RpcError(HEADER_MISMATCH, f"header differs from the body: {name}")
