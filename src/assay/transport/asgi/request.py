"""One HTTP request, as the application serves it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from time import time
from typing import NamedTuple

from assay.protocol.http.asgi import AsgiScope, Receive, Transmit
from assay.protocol.http.client_address import Network, client_address
from assay.protocol.http.head_policy import Admission, Headers
from assay.protocol.http.route import Sessionless
from assay.protocol.scope import Scope, adopted

from .challenge import KEY as CHALLENGE
from .client_certificate import scope_of_certificate
from .exchange import Exchange, StreamTiming
from .send import WholeResponseSend


class RequestSettings(NamedTuple):
    """What all requests of an endpoint share."""

    timing: StreamTiming
    trusted_proxies: Sequence[Network]


class HttpRequest:
    """One HTTP request: its ASGI scope and callables, its headers, and the verdict on them."""

    _exchange: Exchange | None = None

    def __init__(
        self,
        asgi: AsgiScope,
        headers: dict[bytes, bytes],
        admission: Admission,
        receive: Receive,
        transmit: Transmit,
        settings: RequestSettings,
    ) -> None:
        self.whole_send = transmit if isinstance(transmit, WholeResponseSend) else None
        self.asgi = asgi
        self.headers = headers
        self.admission = admission
        self.receive = receive
        self.transmit = transmit
        self.settings = settings

    @property
    def exchange(self) -> Exchange:
        """The sending side, created only when the answer is more than one plain JSON object."""
        if self._exchange is None:
            challenge = self.asgi.get(CHALLENGE)
            self._exchange = Exchange(
                self.transmit, self.whole_send, self.admission, self.settings.timing, challenge
            )
        return self._exchange

    @property
    def is_plain(self) -> bool:
        """Whether the answer is one JSON object: no message preceded it, and the client prefers no stream."""
        return self._exchange is None and not self.admission.prefers_stream

    async def send(self, data: bytes) -> None:
        await self.exchange.send(data)

    @property
    def cors(self) -> Headers:
        return list(self.admission.cors)

    async def departure(self) -> None:
        """Return when the client has disconnected."""
        while (await self.receive())["type"] != "http.disconnect":
            pass

    async def end(self) -> None:
        """Return when the client has disconnected or its authorization has expired."""
        host_scope: Scope | None = self.asgi.get("assay")
        remaining = None if host_scope is None or host_scope.expires is None else host_scope.expires - time()
        try:
            async with asyncio.timeout(remaining):
                await self.departure()
        except TimeoutError:
            pass

    def client_address(self) -> str:
        return address_of(self.asgi, self.settings.trusted_proxies)

    def scope(self, target: Sessionless | None = None) -> Scope:
        """What handlers see of this request. The principal comes from the host's scope, else from a client
        certificate."""
        host_scope: Scope | None = self.asgi.get("assay")
        if host_scope is None and "extensions" in self.asgi:
            host_scope = scope_of_certificate(self.asgi["extensions"])
        if target is None:
            scope = Scope(
                transport="http", raw_headers=self.asgi["headers"], client_address=self.client_address
            )
        else:
            scope = Scope(
                transport="http",
                raw_headers=self.asgi["headers"],
                revision=target.revision,
                peer=target.peer,
                mirrors=target.mirrors,
                departure=self.departure,
                disconnect_cancels=target.revision.http.disconnect_cancels,
                client_address=self.client_address,
            )
        if host_scope is not None:
            if type(host_scope) is not Scope:
                return adopted(host_scope, scope)
            scope.principal, scope.scopes, scope.state = (
                host_scope.principal,
                host_scope.scopes,
                host_scope.state,
            )
            scope.expires = host_scope.expires
        return scope


def address_of(asgi: AsgiScope, trusted_proxies: Sequence[Network]) -> str:
    """The address of the client, for limits; empty where the HTTP server knows none (a Unix socket)."""
    client = asgi.get("client")
    return client_address(client[0] if client else "", asgi["headers"], trusted_proxies)
