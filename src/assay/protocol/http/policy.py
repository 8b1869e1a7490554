"""What the operator of an HTTP endpoint decides, and what follows for one host or origin."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum

from assay.model.strictness import LENIENT, Strictness

LOOPBACK = ("localhost", "127.0.0.1", "[::1]")
AUTHORITY = re.compile(r"(?P<host>\[[^\]]*\]|[^:]*)(:[0-9]*)?")


class Sessions(Enum):
    """Whether clients hold a session across their requests."""

    OPTIONAL = "optional"
    REQUIRED = "required"
    OFF = "off"


@dataclass(frozen=True, slots=True)
class HttpPolicy:
    path: str | None = "/mcp"
    """The endpoint's path; none when the surrounding application has already routed."""
    streaming: bool = True
    """Whether an answer may become an event stream; off means one JSON object per request."""
    websocket: bool = True
    """Whether a client may connect by WebSocket, too."""
    sessions: Sessions = Sessions.OPTIONAL
    allowed_hosts: tuple[str, ...] = LOOPBACK
    """Accepted values of `Host`, with or without a port; `*` accepts any."""
    allowed_origins: tuple[str, ...] = ()
    """Accepted values of `Origin` beside those whose host is an allowed host; `*` accepts any."""
    strictness: Strictness = LENIENT

    def admits_host(self, host: str) -> bool:
        return "*" in self.allowed_hosts or self._names(host)

    def _names(self, authority: str) -> bool:
        """Whether a host, with its port or without, is an allowed one; case does not matter in hosts."""
        authority = authority.lower()
        named = {host.lower() for host in self.allowed_hosts if host != "*"}
        return authority in named or hostname(authority) in named

    def admits_origin(self, origin: str) -> bool:
        if "*" in self.allowed_origins or origin in self.allowed_origins:
            return True
        scheme, separator, authority = origin.partition("://")
        # `*` among the hosts says nothing about who may script the endpoint from a browser.
        return bool(separator) and scheme in ("http", "https") and self._names(authority)


def hostname(authority: str) -> str:
    """The host of `host[:port]`; an IPv6 address keeps its brackets. Whatever else it is stays whole."""
    found = AUTHORITY.fullmatch(authority)
    # `localhost:1@evil.example` and `[::1].evil.example` begin like a host, and are none.
    return authority if found is None else found["host"]
