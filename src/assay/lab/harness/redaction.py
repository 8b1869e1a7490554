"""What must not be kept: credentials are replaced before a frame is recorded, so no reader ever has them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

REPLACEMENT: Final = b"[redacted]"
# Headers whose value is a credential by definition, wherever they came from.
_HEADER: Final = re.compile(
    rb"^((?:authorization|proxy-authorization|cookie|set-cookie|x-api-key)[ \t]*:[ \t]*)([^\r\n]*)",
    re.IGNORECASE | re.MULTILINE,
)
SHORTEST: Final = 4
"""A shorter secret would be replaced in places that only happen to hold the same letters."""


class Redaction:
    """Replaces known secrets everywhere, and the values of headers that carry credentials."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        # Longest first: one secret may be part of another.
        found = sorted({secret.encode() for secret in secrets if len(secret) >= SHORTEST}, key=len)
        self._secrets = tuple(reversed(found))

    def text(self, raw: bytes) -> bytes:
        for secret in self._secrets:
            raw = raw.replace(secret, REPLACEMENT)
        return raw

    def head(self, raw: bytes) -> bytes:
        """The same for what begins with an HTTP head, whose credentials need not be known."""
        head, end, body = raw.partition(b"\r\n\r\n")
        return _HEADER.sub(rb"\g<1>" + REPLACEMENT, self.text(head)) + end + self.text(body)

    def words(self, text: str) -> str:
        return self.text(text.encode()).decode()
