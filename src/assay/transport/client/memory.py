"""A server in the same process: encoded messages, no sockets. Each request runs in the task of its call."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Final

from assay.model.client_error import ConnectionFailed
from assay.model.client_limits import ClientLimits
from assay.model.definition import ToolDefinition
from assay.model.error import LifespanFailed
from assay.model.jsonrpc import Notification, Request
from assay.protocol.codec import encode
from assay.revisions.revision import Revision
from assay.transport.memory import MemoryConnection
from assay.transport.port import Endpoint

from .port import Outgoing, Receiver, deliver

UNYIELDING: Final = 16
"""Messages after which other tasks get a turn: a call that never waits does not reach the event loop."""


class MemoryLink:
    endpoint = ""
    is_stateless = False

    def __init__(self, server: Endpoint, limits: ClientLimits) -> None:
        self._server = server
        self._limits = limits.codec
        self._connection: MemoryConnection | None = None
        self._since_turn = 0

    async def open(self, receiver: Receiver) -> None:
        self._receiver = receiver
        try:
            await self._server.start()
        except (LifespanFailed, RuntimeError) as error:
            raise ConnectionFailed(f"the server cannot be started: {error}") from error
        self._connection = MemoryConnection(self._server, take=self._take)

    def _take(self, message: bytes) -> None:
        deliver(message, self._limits, self._receiver)

    async def send(self, message: Outgoing, revision: Revision) -> None:
        if self._connection is None:
            return
        reply = await self._connection.deliver(encode(message))
        if reply is not None and isinstance(message, Request):
            self._take(reply)
        self._since_turn += 1
        if self._since_turn >= UNYIELDING:
            self._since_turn = 0
            await asyncio.sleep(0)

    def cancel(self, notice: Notification, revision: Revision) -> None:
        return  # the handler runs in the task that was cancelled

    async def follow(self, revision: Revision) -> None:
        return

    def learn(self, tools: Iterable[ToolDefinition]) -> None:
        return

    def context(self) -> str:
        return ""

    async def close(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()
