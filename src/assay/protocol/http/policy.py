"""Settings of an HTTP endpoint, and which hosts and origins they allow."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from assay.model.strictness import LENIENT, Strictness
from assay.revisions.served import EVERY, Served

if TYPE_CHECKING:
    from .client_address import Network

LOOPBACK = ("localhost", "127.0.0.1", "[::1]")
AUTHORITY = re.compile(r"(?P<host>\[[^\]]*\]|[^:]*)(:[0-9]*)?")


class Sessions(Enum):
    """Whether clients have sessions."""

    OPTIONAL = "optional"
    REQUIRED = "required"
    OFF = "off"


@dataclass(frozen=True, slots=True)
class HttpPolicy:
    path: str | None = "/mcp"
    """The endpoint's path; none if the surrounding application has already routed the request."""
    streaming: bool = True
    """Whether a response may be an event stream; otherwise it is one JSON object."""
    websocket: bool = True
    """Whether clients may also connect by WebSocket."""
    sessions: Sessions = Sessions.OPTIONAL
    allowed_hosts: tuple[str, ...] = LOOPBACK
    """Accepted values of `Host`, with or without a port; `*` accepts any."""
    allowed_origins: tuple[str, ...] = ()
    """Accepted values of `Origin`, in addition to those whose host is allowed; `*` accepts any."""
    trusted_proxies: tuple[Network, ...] = ()
    """Proxies whose `Forwarded` or `X-Forwarded-For` names the client; none by default."""
    open_paths: frozenset[str] = frozenset()
    """Paths beside the endpoint's that need no token, such as those of probes."""
    strictness: Strictness = LENIENT
    served: Served = EVERY
    """The revisions that the endpoint serves."""

    def admits_host(self, host: str) -> bool:
        return "*" in self.allowed_hosts or self._names(host)

    def _names(self, authority: str) -> bool:
        """Whether a host, with or without port, is listed; hosts are case-insensitive (RFC 3986, 3.2.2)."""
        authority = authority.lower()
        named = {host.lower() for host in self.allowed_hosts if host != "*"}
        return authority in named or hostname(authority) in named

    def admits_origin(self, origin: str) -> bool:
        if "*" in self.allowed_origins or origin in self.allowed_origins:
            return True
        scheme, separator, authority = origin.partition("://")
        # `*` in `allowed_hosts` allows any name of the server. It must not let every web page script it.
        return bool(separator) and scheme in ("http", "https") and self._names(authority)


def hostname(authority: str) -> str:
    """The host of `host[:port]`; an IPv6 address keeps its brackets. Any other text is returned unchanged."""
    match = AUTHORITY.fullmatch(authority)
    # Match the whole text: `localhost:1@evil.example` and `[::1].evil.example` only begin like a host.
    return authority if match is None else match["host"]
