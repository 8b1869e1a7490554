"""The `WWW-Authenticate` header of a response that refuses a request (RFC 9110, 11; RFC 6750, 3)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, NamedTuple

from assay.protocol.scope import SCOPE_TOKEN

HEADER_CHARACTERS: Final = 16 * 1024
SCOPES: Final = 100
_TOKEN: Final = r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+"
# Apart from the others, so that thousands of them are passed over once, and not again from each position.
_SEPARATORS: Final = re.compile(r"[\s,]*")
_PARAMETER: Final = re.compile(rf'({_TOKEN})\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]+))\s*(?:,|$)')
_SCHEME: Final = re.compile(rf"({_TOKEN})(?=\s|,|$)(?!\s*=)[ \t]*")
_REST: Final = re.compile(r"[^,]*(?:,|$)")
_SCHEMES: Final = ("dpop", "bearer")
"""A server that offers both prefers the one that protects the token."""


class Challenge(NamedTuple):
    scheme: str = "bearer"
    error: str | None = None
    scopes: tuple[str, ...] = ()
    resource_metadata: str | None = None
    description: str = ""

    @property
    def needs_scope(self) -> bool:
        return self.error == "insufficient_scope"

    @property
    def needs_nonce(self) -> bool:
        return self.error == "use_dpop_nonce"


def read_challenge(headers: Mapping[str, str]) -> Challenge:
    """The challenge for a token in the headers of a response; an empty one if there is none."""
    listed = _challenges(headers.get("www-authenticate", "")[:HEADER_CHARACTERS])
    for scheme in _SCHEMES:
        if scheme in listed:
            parameters = listed[scheme]
            return Challenge(
                scheme,
                parameters.get("error"),
                read_scopes(parameters.get("scope")),
                parameters.get("resource_metadata"),
                parameters.get("error_description", ""),
            )
    return Challenge()


def _challenges(text: str) -> dict[str, dict[str, str]]:
    """The parameters of the first challenge of each scheme."""
    listed: dict[str, dict[str, str]] = {}
    current: dict[str, str] = {}
    position = 0
    while (position := _skip(text, position)) < len(text):
        if (parameter := _PARAMETER.match(text, position)) is not None:
            quoted = parameter[2]
            value = parameter[3] if quoted is None else re.sub(r"\\(.)", r"\1", quoted)
            current.setdefault(parameter[1].lower(), value)
            position = parameter.end()
        elif (scheme := _SCHEME.match(text, position)) is not None:
            current = {}
            listed.setdefault(scheme[1].lower(), current)
            position = scheme.end()
        else:
            rest = _REST.match(text, position)
            position = max(rest.end() if rest is not None else len(text), position + 1)
    return listed


def _skip(text: str, position: int) -> int:
    separators = _SEPARATORS.match(text, position)
    return position if separators is None else separators.end()


def read_scopes(text: object) -> tuple[str, ...]:
    """The scopes in a text, each once; anything else is left out."""
    words = text.split() if isinstance(text, str) else []
    return tuple(dict.fromkeys(word for word in words[:SCOPES] if SCOPE_TOKEN.fullmatch(word)))
