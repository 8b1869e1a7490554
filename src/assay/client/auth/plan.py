"""What the options of a user come to: a grant, and what its driver needs."""

from __future__ import annotations

import ssl
from collections.abc import Awaitable, Callable, Mapping
from typing import NamedTuple

from assay.protocol.oauth.effect import Signer
from assay.protocol.oauth.grant import Grant
from assay.transport.client.proxy import ProxyOption

from .http_client import HttpClient
from .storage import TokenStorage
from .visitor import Visitor

Supplier = str | Callable[[], str | Awaitable[str]]
"""A text, or a function that returns a current one."""


class Plan(NamedTuple):
    grant: Grant
    storage: TokenStorage
    account: str
    """Separates what is stored for one server by several clients."""
    scopes: tuple[str, ...] = ()
    dpop: bool | None = None
    signer: Signer | None = None
    suppliers: Mapping[str, Supplier] = {}
    make_visitor: Callable[[HttpClient], Visitor] | None = None
    trusted: tuple[str, ...] = ()
    """URLs from the user, whose hosts may be in any network."""
    timeout: float = 60.0
    """Seconds for one authorization, with the time of the user."""

    def __repr__(self) -> str:
        return f"Plan({self.account!r})"  # without secrets


class Connection(NamedTuple):
    """The server that tokens are for."""

    url: str
    tls: ssl.SSLContext | None = None
    proxy: ProxyOption = None
