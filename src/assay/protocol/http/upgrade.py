"""From an HTTP request to a WebSocket connection: the opening handshake (RFC 6455, section 4.2)."""

from __future__ import annotations

import binascii
from base64 import b64decode, b64encode
from collections.abc import Iterable, Sequence
from hashlib import sha1
from typing import Final, NamedTuple

from .head_policy import Headers, Refusal

GUID: Final = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
VERSION: Final = b"13"
SUBPROTOCOL: Final = "mcp"


class Upgrade(NamedTuple):
    """A valid request for a WebSocket."""

    key: bytes
    subprotocols: tuple[str, ...]
    """The subprotocols that the client offers, in its order of preference."""


def wants_upgrade(headers: Iterable[tuple[bytes, bytes]]) -> bool:
    """Whether a request asks for a WebSocket, valid or not."""
    return b"websocket" in _tokens(headers, b"upgrade")


def read_upgrade(method: str, http_version: str, headers: Headers) -> Upgrade | Refusal:
    if method != "GET" or http_version != "1.1":
        return Refusal(400, "a WebSocket is opened with GET on HTTP/1.1")
    if not wants_upgrade(headers) or b"upgrade" not in _tokens(headers, b"connection"):
        return Refusal(400, "a WebSocket needs the headers Upgrade: websocket and Connection: Upgrade")
    if _values(headers, b"sec-websocket-version") != [VERSION]:
        return Refusal(
            426,
            f"WebSocket version not supported: send {VERSION.decode()}",
            ((b"sec-websocket-version", VERSION), (b"upgrade", b"websocket")),
        )
    keys = _values(headers, b"sec-websocket-key")
    if len(keys) != 1 or not _is_key(keys[0]):
        return Refusal(400, "Sec-WebSocket-Key must be 16 bytes in Base64, given once")
    offered = _tokens(headers, b"sec-websocket-protocol", lower=False)
    return Upgrade(keys[0], tuple(name.decode("latin-1") for name in offered))


def accept_key(key: bytes) -> bytes:
    """The value of Sec-WebSocket-Accept: proof that the server read the key (RFC 6455, 4.2.2)."""
    return b64encode(sha1(key + GUID).digest())


def choose_subprotocol(offered: Sequence[str]) -> str | Refusal | None:
    """The subprotocol to use; none if the client offers none, as many do."""
    if not offered:
        return None
    if SUBPROTOCOL in offered:
        return SUBPROTOCOL
    # Browsers fail a connection that selects none of the offered subprotocols; a refusal gives the reason.
    return Refusal(400, f"subprotocol not supported: offer {SUBPROTOCOL}, or none")


def _values(headers: Iterable[tuple[bytes, bytes]], name: bytes) -> list[bytes]:
    return [value.strip() for key, value in headers if key == name]


def _tokens(headers: Iterable[tuple[bytes, bytes]], name: bytes, *, lower: bool = True) -> list[bytes]:
    joined = b",".join(_values(headers, name))
    tokens = (token.strip() for token in (joined.lower() if lower else joined).split(b","))
    return [token for token in tokens if token]


def _is_key(key: bytes) -> bool:
    try:
        return len(b64decode(key, validate=True)) == 16
    except binascii.Error:
        return False
