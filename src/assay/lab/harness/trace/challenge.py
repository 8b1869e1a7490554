"""What a server says to those whom it does not let in: the header `WWW-Authenticate`, read leniently."""

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
    """In small letters."""
    params: dict[str, str]

    @property
    def scopes(self) -> list[str]:
        return self.params.get("scope", "").split()


def challenges(head: Head | None) -> list[Challenge]:
    """All challenges of a response, over all its headers of that name."""
    found: list[Challenge] = []
    for value in [] if head is None else head.all(HEADER):
        for name, equals, quoted, plain in _PART.findall(value):
            if not equals:
                found.append(Challenge(name.lower(), {}))
            elif found:
                found[-1].params[name.lower()] = re.sub(r"\\(.)", r"\1", quoted) or plain
    return found


def bearer_challenge(head: Head | None) -> Challenge | None:
    """The first for bearer tokens; none where there is none."""
    return next((one for one in challenges(head) if one.scheme == SCHEME), None)
