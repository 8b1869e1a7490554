"""Redaction: credentials are replaced before a frame is recorded, so no stored evidence contains them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any, Final

REPLACEMENT: Final = b"[redacted]"
ALWAYS: Final = ("authorization", "proxy-authorization", "cookie", "set-cookie", "x-api-key")
"""Headers whose value is a credential by definition."""
SHORTEST: Final = 8
"""Shorter secrets would match unrelated text; they are only replaced in the header that carries them."""


class Redaction:
    """Replaces known secrets everywhere, and the values of headers that carry credentials."""

    def __init__(
        self, secrets: Iterable[str] = (), headers: Iterable[str] = (), always: Iterable[str] = ALWAYS
    ) -> None:
        self._secrets: tuple[bytes, ...] = ()
        for secret in secrets:
            self.learn(secret)
        names = "|".join(re.escape(name) for name in (*always, *headers))
        self._header = re.compile(
            rf"^((?:{names})[ \t]*:[ \t]*)([^\r\n]*)".encode(), re.IGNORECASE | re.MULTILINE
        )

    def learn(self, secret: str) -> None:
        """Redact this secret, too, from now on."""
        if len(secret) >= SHORTEST:
            # Longest first: a secret may be part of another.
            self._secrets = tuple(sorted({*self._secrets, *_forms(secret)}, key=len, reverse=True))

    def text(self, raw: bytes) -> bytes:
        for secret in self._secrets:
            raw = raw.replace(secret, REPLACEMENT)
        return raw

    def head(self, raw: bytes) -> bytes:
        """Redact data that begins with an HTTP head, where credentials are found by header name."""
        head, end, body = raw.partition(b"\r\n\r\n")
        return self._header.sub(rb"\g<1>" + REPLACEMENT, self.text(head)) + end + self.text(body)

    def string(self, text: str) -> str:
        # Servers may send lone surrogates.
        return self.text(text.encode("utf-8", "surrogatepass")).decode("utf-8", "surrogatepass")

    def value(self, value: Any) -> Any:
        """Redact every string in a JSON value, keys included."""
        match value:
            case str():
                return self.string(value)
            case list():
                return [self.value(item) for item in value]
            case dict():
                return {self.string(key): self.value(item) for key, item in value.items()}
        return value


def _forms(secret: str) -> set[bytes]:
    """The secret verbatim, and escaped as in JSON."""
    return {form.encode() for form in (secret, json.dumps(secret)[1:-1])}
