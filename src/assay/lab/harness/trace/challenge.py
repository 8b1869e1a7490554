"""Challenges of a server in `WWW-Authenticate`, read leniently."""

from __future__ import annotations

import re
from typing import Final

from msgspec import Struct

from assay.lab.harness.links.http_text import Head

HEADER: Final = "www-authenticate"
SCHEME: Final = "bearer"
METADATA: Final = "resource_metadata"
_TOKEN: Final = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
_PART: Final = re.compile(rf'({_TOKEN})\s*(?:(=)\s*(?:"((?:[^"\\]|\\.)*)"|({_TOKEN})?))?')


class Challenge(Struct, frozen=True):
    scheme: str
    """In lower case."""
    params: dict[str, str]

    @property
    def scopes(self) -> list[str]:
        return self.params.get("scope", "").split()


def challenges(head: Head | None) -> list[Challenge]:
    """The challenges in all `WWW-Authenticate` headers of a response."""
    parsed: list[Challenge] = []
    for value in [] if head is None else head.all(HEADER):
        for name, equals, quoted, plain in _PART.findall(value):
            if not equals:
                parsed.append(Challenge(name.lower(), {}))
            elif parsed:
                parsed[-1].params[name.lower()] = re.sub(r"\\(.)", r"\1", quoted) or plain
    return parsed


def bearer_challenge(head: Head | None) -> Challenge | None:
    """The first challenge for bearer tokens, if any."""
    return next((challenge for challenge in challenges(head) if challenge.scheme == SCHEME), None)
