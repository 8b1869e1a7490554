"""A client in the same process: no sockets, no threads, bytes all the same."""

from __future__ import annotations

from collections import deque
from typing import Any

from assay.model.scope import Scope

from .port import Endpoint


class MemoryConnection:
    """Delivers messages to an endpoint and keeps what comes back on its own, in order."""

    def __init__(self, endpoint: Endpoint, *, principal: Any = None) -> None:
        self._endpoint = endpoint
        self.received: deque[bytes] = deque()
        self.session = endpoint.open_session(self.received.append, principal=principal)
        self._scope = Scope(transport="memory", session=self.session, principal=principal)

    async def deliver(self, message: bytes) -> bytes | None:
        """Serve one message and return its answer."""
        return await self._endpoint.handle(message, send=self._keep, scope=self._scope)

    async def _keep(self, message: bytes) -> None:
        self.received.append(message)

    def close(self) -> None:
        self._endpoint.close_session(self.session)
