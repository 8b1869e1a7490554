"""Which texts are URIs (RFC 3986), and which path values would leave their root.

Nothing is normalised: a URI is an identifier, and two spellings are two identifiers. Percent-encoded control
characters are refused although the grammar allows them, because they reach file names and logs once decoded.
"""

from __future__ import annotations

import re
from typing import Final

# The request-line size that common HTTP servers accept; a URI is also a key in logs and caches.
MAX_URI_LENGTH: Final = 8192
SHOWN_LENGTH: Final = 80

SCHEME: Final = r"[A-Za-z][A-Za-z0-9+.-]*\Z"
AUTHORITY: Final = r"//(?:[^/?#\[\]]*@)?(?:\[[0-9A-Za-z:.%~_!$&'()*+,;=-]+\])?[^/?#\[\]]*"

# Order matters: the first reason that applies is the one given.
FORBIDDEN: Final = (
    (r"[\x00-\x20\x7f-\xa0]", "control character or whitespace"),
    (r"[^A-Za-z0-9\-._~:/?#\[\]@!$&'()*+,;=%]", "character that must be percent-encoded"),
    (r"%(?![0-9A-Fa-f]{2})", "percent sign without two hexadecimal digits"),
    (r"%(?:[01][0-9A-Fa-f]|7[Ff])", "percent-encoded control character"),
    (r"#[^#]*#", "second fragment"),
)


class InvalidUri(ValueError):
    """A text that is not an absolute URI, and why."""

    def __init__(self, uri: str, reason: str) -> None:
        super().__init__(uri, reason)
        self.uri = uri
        self.reason = reason

    def __str__(self) -> str:
        shown = self.uri if len(self.uri) <= SHOWN_LENGTH else self.uri[:SHOWN_LENGTH] + "…"
        return f"not an absolute URI ({self.reason}): {shown!r}"


def check_uri(text: str) -> None:
    """Accept an absolute URI.

    Raises:
        InvalidUri: with the first reason found.
    """
    if len(text) > MAX_URI_LENGTH:
        raise InvalidUri(text, f"longer than {MAX_URI_LENGTH} characters")
    for pattern, reason in FORBIDDEN:
        if re.search(pattern, text):
            raise InvalidUri(text, reason)
    scheme, colon, rest = text.partition(":")
    if not colon or not re.match(SCHEME, scheme):
        raise InvalidUri(text, "no valid scheme")
    if not rest:
        raise InvalidUri(text, "nothing after the scheme")
    _check_brackets(text, rest)


def check_scheme(scheme: str) -> None:
    """Accept a scheme as it stands before the colon.

    Raises:
        InvalidUri: letters, digits, `+`, `-` and `.` only, a letter first.
    """
    if not re.match(SCHEME, scheme):
        raise InvalidUri(scheme, "no valid scheme")


def escapes_root(path: str) -> bool:
    """Whether a percent-decoded path value could leave the directory it is joined to."""
    return "\\" in path or "\0" in path or ".." in path.split("/")


def percent_encode(text: str, safe: str) -> str:
    # `urllib.parse` takes longer to load than the rest of a server that needs none of this.
    from urllib.parse import quote

    return quote(text, safe=safe)


def percent_decode(text: str) -> str:
    """
    Raises:
        UnicodeDecodeError: the bytes are no UTF-8.
    """
    from urllib.parse import unquote

    return unquote(text, errors="strict")


def _check_brackets(text: str, rest: str) -> None:
    """Square brackets enclose an IP address in the authority and appear nowhere else."""
    authority = re.match(AUTHORITY, rest)
    remainder = rest[authority.end() :] if authority else rest
    if "[" in remainder or "]" in remainder:
        raise InvalidUri(text, "square bracket outside an IP address")
