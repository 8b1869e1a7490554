"""How connections to a server are made: its address or command, and what every request carries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from assay.lab.harness.links.http_call import Address
from assay.lab.harness.links.identity import DEFAULT_IDENTITY, Identity
from assay.lab.harness.transport import Transport

from .http_wire import HttpWire
from .line_wire import LineWire
from .response import HeadCache
from .tcp import Route
from .websocket_wire import WebSocketWire
from .wire import Receiver, Wire, WireSettings


class Endpoint:
    def __init__(
        self,
        transport: Transport,
        *,
        url: str = "",
        command: Sequence[str] = (),
        environment: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
        identity: Identity = DEFAULT_IDENTITY,
        via: int | None = None,
    ) -> None:
        """`via` is the local port of a relay to the server."""
        self.transport = transport
        self.headers = dict(headers or {})
        """Replaced when a token is."""
        self._address = Address.of(url) if url else None
        self._command = tuple(command)
        self._environment = environment or {}
        self._route = Route(self._address, identity, via) if self._address is not None else None
        self._heads = HeadCache()

    @property
    def address(self) -> Address | None:
        return self._address

    def connect(self, settings: WireSettings, receiver: Receiver) -> Wire:
        if self._route is None:
            return LineWire(settings, receiver, self._command, self._environment)
        arguments = (settings, receiver, self._route, lambda: self.headers)
        if self.transport is Transport.WEBSOCKET:
            return WebSocketWire(*arguments)
        return HttpWire(*arguments, self._heads)
