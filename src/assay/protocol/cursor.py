"""Opaque pagination cursors.

A cursor names a list and the position after which the next page begins. Its checksum is not a secret: it
makes an altered cursor an error instead of a wrong page, and works across worker processes. A forged cursor
reaches no data that the list does not show anyway.
"""

from __future__ import annotations

import base64
from typing import Final

# Six bytes: too many for a chance match, and the cursor stays short.
CHECKSUM_SIZE: Final = 6


class UnknownCursor(ValueError):
    """A cursor that was not issued for this list."""

    def __init__(self, kind: str, cursor: str) -> None:
        super().__init__(kind, cursor)
        self.kind = kind
        self.cursor = cursor

    def __str__(self) -> str:
        return f"unknown {self.kind} cursor: {self.cursor[:80]!r}"


def encode_cursor(kind: str, after: int) -> str:
    """Name the position `after` in the list `kind`; the same arguments always give the same cursor."""
    if after < 0:
        raise ValueError(f"position cannot be negative: {after}")
    # Imported when a list first has a second page.
    from hashlib import blake2s

    body = f"{kind}:{after}".encode()
    checksum = blake2s(body, digest_size=CHECKSUM_SIZE).digest()
    return base64.urlsafe_b64encode(checksum + body).rstrip(b"=").decode()


def decode_cursor(kind: str, cursor: str, *, newest: int) -> int:
    """Return the position that `cursor` names in the list `kind`.

    Raises:
        UnknownCursor: not issued for this list, or beyond `newest`, the last position issued so far.
    """
    try:
        after = _position(cursor)
        # Comparing whole cursors checks kind and checksum, and rejects other Base64 spellings of a position.
        issued = encode_cursor(kind, after) == cursor
    except ValueError:
        raise UnknownCursor(kind, cursor) from None
    if not issued or after > newest:
        raise UnknownCursor(kind, cursor)
    return after


def _position(cursor: str) -> int:
    padded = cursor + "=" * (-len(cursor) % 4)
    body = base64.b64decode(padded, altchars=b"-_", validate=True)[CHECKSUM_SIZE:]
    return int(body.rpartition(b":")[2])
