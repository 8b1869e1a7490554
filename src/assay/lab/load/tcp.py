"""TCP connections of the wires: how a server is reached, and who gets the bytes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from msgspec import Struct

from assay.lab.harness.links.http_call import Address
from assay.lab.harness.links.identity import Identity

from .error_kind import CONNECT
from .wire import OpeningFailed

LOCAL = "127.0.0.1"


class Connection(asyncio.BaseProtocol):
    """One TCP connection of a wire, which may have several after another."""

    def __init__(
        self, receive: Callable[[bytes], None], lost: Callable[[Connection, Exception | None], None]
    ) -> None:
        self.data_received = receive  # called by the event loop, without a detour
        self._lost = lost

    def eof_received(self) -> None: ...

    def connection_lost(self, exc: Exception | None) -> None:
        self._lost(self, exc)


class Route(Struct, frozen=True):
    """The address of a server. `via` is the local port of a relay to it."""

    address: Address
    identity: Identity
    via: int | None = None

    async def connect(
        self, receive: Callable[[bytes], None], lost: Callable[[Connection, Exception | None], None]
    ) -> tuple[asyncio.Transport, Connection]:
        """
        Raises:
            OpeningFailed: it cannot be reached.
        """
        address = self.address
        host, port = (address.host, address.port) if self.via is None else (LOCAL, self.via)
        context = self.identity.context() if address.secure else None
        try:
            return await asyncio.get_running_loop().create_connection(
                lambda: Connection(receive, lost),
                host,
                port,
                ssl=context,
                server_hostname=address.host if context is not None else None,
            )
        except OSError as error:
            raise OpeningFailed(CONNECT, str(error.strerror or error)) from None
