"""What links to a URL have in common."""

from __future__ import annotations

import ssl
from collections.abc import Mapping

from msgspec import Struct

from assay.model.client_limits import ClientLimits

from .http_head import check_headers, user_lines
from .port import Authorizer
from .proxy import Proxy
from .url import Address


class UrlOptions(Struct, frozen=True):
    """How the user wants a URL to be reached."""

    headers: Mapping[str, str] | None = None
    tls: ssl.SSLContext | None = None
    authorizer: Authorizer | None = None
    proxy: Proxy | None = None
    resume: float = 10.0
    """Seconds to try to reach a stream again without receiving anything from it, after the first attempts."""


DEFAULT: UrlOptions = UrlOptions()


class UrlLink:
    """The address of a server, and what the user wants to send there.

    Raises:
        ValueError: a header cannot be sent.
    """

    def __init__(self, address: Address, limits: ClientLimits, options: UrlOptions = DEFAULT) -> None:
        self._address = address
        self._limits = limits
        self._codec = limits.codec
        self._user_lines = user_lines(check_headers(options.headers or {}))
        self._tls = options.tls
        self._authorizer = options.authorizer
        self._proxy = options.proxy
        self._resume = options.resume

    @property
    def endpoint(self) -> str:
        return self._address.url
