"""A connection within one process: encoded messages, without sockets or threads."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

from assay.protocol.scope import Scope

from .port import Endpoint


class MemoryConnection:
    """Delivers messages to an endpoint. Other messages than answers go to `take`, or into `received`."""

    def __init__(
        self, endpoint: Endpoint, *, principal: Any = None, take: Callable[[bytes], None] | None = None
    ) -> None:
        self._endpoint = endpoint
        self.received: deque[bytes] = deque()
        self._take = take or self.received.append
        self.session = endpoint.open_session(self._take, principal=principal)
        self._scope = Scope(transport="memory", session=self.session, principal=principal)

    async def deliver(self, message: bytes) -> bytes | None:
        """Serve one message and return its answer."""
        return await self._endpoint.handle(message, send=self._send, scope=self._scope)

    async def _send(self, message: bytes) -> None:
        self._take(message)

    def close(self) -> None:
        self._endpoint.close_session(self.session)
