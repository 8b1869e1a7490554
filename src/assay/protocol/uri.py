"""Validate URIs (RFC 3986), and detect paths that escape their root.

Nothing is normalised: a URI is an identifier, and two spellings are two identifiers. Percent-encoded control
characters are refused although the grammar allows them: decoded, they would reach file names and logs.
"""

from __future__ import annotations

import re
from typing import Final

# The length of a request line that common HTTP servers accept.
MAX_URI_LENGTH: Final = 8192
DISPLAYED_LENGTH: Final = 80

SCHEME: Final = r"[A-Za-z][A-Za-z0-9+.-]*\Z"
AUTHORITY: Final = r"//(?:[^/?#\[\]]*@)?(?:\[[0-9A-Za-z:.%~_!$&'()*+,;=-]+\])?[^/?#\[\]]*"

DEVICE: Final = r"(?:\A|/)(?i:CON|PRN|AUX|NUL|CONIN\$|CONOUT\$|(?:COM|LPT)[0-9¹²³])(?=[ .:/]|\Z)"
"""A name that Windows takes for a device in every directory, with any extension."""

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
        uri = self.uri if len(self.uri) <= DISPLAYED_LENGTH else self.uri[:DISPLAYED_LENGTH] + "…"
        return f"not an absolute URI ({self.reason}): {uri!r}"


def check_uri(text: str) -> None:
    """Check that a text is an absolute URI.

    Raises:
        InvalidUri: with the first reason that applies.
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


def escapes_root(path: str) -> bool:
    """Whether a percent-decoded path could leave the directory that it is joined to, on any system.

    On Windows, a path that begins with a drive (`C:x`, `C:`) replaces the directory, and a backslash
    separates names.
    """
    has_drive = path[1:2] == ":" and path[0].isascii() and path[0].isalpha()
    return has_drive or "\\" in path or "\0" in path or ".." in path.split("/")


def percent_encode(text: str, safe: str) -> str:
    # Imported here because `urllib.parse` is slow to load, and many servers have no resources.
    from urllib.parse import quote

    return quote(text, safe=safe)


def percent_decode(text: str) -> str:
    """
    Raises:
        UnicodeDecodeError: the bytes are not UTF-8.
    """
    from urllib.parse import unquote

    return unquote(text, errors="strict")


def _check_brackets(text: str, rest: str) -> None:
    """Square brackets may only enclose an IP address in the authority (RFC 3986, 3.2.2)."""
    authority = re.match(AUTHORITY, rest)
    remainder = rest[authority.end() :] if authority else rest
    if "[" in remainder or "]" in remainder:
        raise InvalidUri(text, "square bracket outside an IP address")
