"""What travels with each message besides the message itself."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any, Final

from msgspec import Struct, field

Send = Callable[[bytes], Awaitable[None]]
"""Carries one encoded message to the client that is being answered. It never raises when
that client is gone: a handler's work does not depend on who still listens."""

SCOPE: Final = re.compile(r"[\x21\x23-\x5B\x5D-\x7E]+")
"""A scope that may be granted, as it is written (RFC 6749, 3.3)."""


class Scope(Struct, kw_only=True):
    """The circumstances of one message. Hosts set `principal` and `state`; transports set the rest."""

    principal: Any = None
    """Who is asking, as established by the host. Whatever the server keeps belongs to a principal."""

    scopes: frozenset[str] | None = None
    """What the principal was granted; none where nobody asked, and then everything is allowed."""

    expires: float | None = None
    """When that ends, in seconds since 1970: a stream that would go on for ever ends then, too."""

    transport: str = "direct"

    session: Any = None
    """The session this message belongs to; none means that it is served on its own."""

    revision: Any = None
    """For a message without a session: the revision it was sent under, as a value or as its date."""

    peer: Any = None
    """What the message declared of its client, where the transport has read that already."""

    mirrors: Mapping[bytes, bytes] | None = None
    """Headers that must repeat the name in the message's parameters, where the revision wants that."""

    raw_headers: Iterable[tuple[bytes, bytes]] = ()

    state: dict[str, Any] = field(default_factory=dict)
    """Anything a host wants its handlers to see."""

    departure: Callable[[], Awaitable[None]] | None = None
    """Set by transports whose client cancels by hanging up: returns when it has."""

    detach: Callable[[float | None], Awaitable[None]] | None = None
    """Set by transports whose client may be told to come back later for the answer."""

    @property
    def headers(self) -> dict[str, str]:
        """HTTP headers, names in lower case; empty on other transports."""
        return {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in self.raw_headers}
