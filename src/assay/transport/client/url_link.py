"""What links to a URL have in common."""

from __future__ import annotations

import ssl
from collections.abc import Mapping

from assay.model.client_limits import ClientLimits

from .http_head import check_headers, user_lines
from .url import Address


class UrlLink:
    """The address of a server, and what the user wants to send there.

    Raises:
        ValueError: a header cannot be sent.
    """

    def __init__(
        self,
        address: Address,
        limits: ClientLimits,
        headers: Mapping[str, str] | None = None,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self._address = address
        self._limits = limits
        self._codec = limits.codec
        self._user_lines = user_lines(check_headers(headers or {}))
        self._tls = tls

    @property
    def endpoint(self) -> str:
        return self._address.url
