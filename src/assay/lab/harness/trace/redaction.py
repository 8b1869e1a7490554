"""What must not be kept: credentials are replaced before a frame is recorded, so no reader ever has them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any, Final

REPLACEMENT: Final = b"[redacted]"
ALWAYS: Final = ("authorization", "proxy-authorization", "cookie", "set-cookie", "x-api-key")
"""Headers whose value is a credential by definition, wherever they came from."""
SHORTEST: Final = 8
"""A shorter secret would be replaced in places that only happen to hold the same letters; in the header that
carries it, it is replaced all the same."""


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
        """One more, from now on."""
        if len(secret) >= SHORTEST:
            # Longest first: one secret may be part of another.
            self._secrets = tuple(sorted({*self._secrets, *_forms(secret)}, key=len, reverse=True))

    def text(self, raw: bytes) -> bytes:
        for secret in self._secrets:
            raw = raw.replace(secret, REPLACEMENT)
        return raw

    def head(self, raw: bytes) -> bytes:
        """The same for what begins with an HTTP head, whose credentials need not be known."""
        head, end, body = raw.partition(b"\r\n\r\n")
        return self._header.sub(rb"\g<1>" + REPLACEMENT, self.text(head)) + end + self.text(body)

    def words(self, text: str) -> str:
        # A server may send halves of surrogate pairs: what is told of them must survive this.
        return self.text(text.encode("utf-8", "surrogatepass")).decode("utf-8", "surrogatepass")

    def value(self, value: Any) -> Any:
        """The same for every text in a JSON value, keys included."""
        match value:
            case str():
                return self.words(value)
            case list():
                return [self.value(one) for one in value]
            case dict():
                return {self.words(key): self.value(one) for key, one in value.items()}
        return value


def _forms(secret: str) -> set[bytes]:
    """As it is, and as JSON may write it."""
    return {form.encode() for form in (secret, json.dumps(secret)[1:-1])}
