"""WebSocket: a message in each text frame."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Final

from assay.lab.harness.links.http_text import write_request
from assay.lab.harness.links.websocket import KEY, MASK, SUBPROTOCOL
from assay.protocol.framing import websocket as ws

from .error_kind import INVALID, RESET, TOO_LARGE, http_status
from .message_wire import MessageWire
from .response import HEAD_END, LONGEST_HEAD, BadResponse, parse_head
from .tcp import Connection, Route
from .wire import MOST_BYTES, OpeningFailed, Receiver, WireSettings

_SWITCHING: Final = 101


class WebSocketWire(MessageWire):
    def __init__(
        self,
        settings: WireSettings,
        receiver: Receiver,
        route: Route,
        headers: Callable[[], Mapping[str, str]],
    ) -> None:
        super().__init__(settings, receiver)
        self._route = route
        self._address = route.address
        self._headers = headers
        self._transport: asyncio.Transport | None = None
        self._connection: Connection | None = None
        self._upgrade: asyncio.Future[str | None] | None = None
        self._reader = ws.MessageReader(MOST_BYTES, masked=False)
        self._held = bytearray()

    async def _connect(self) -> None:
        self._held = bytearray()
        self._reader = ws.MessageReader(MOST_BYTES, masked=False)
        self._upgrade = asyncio.get_running_loop().create_future()
        self._transport, self._connection = await self._route.connect(self._receive, self._lost)
        self._transport.write(write_request("GET", self._address.target, self._fields().items()))
        error_kind = await self._upgrade
        if error_kind is not None:
            raise OpeningFailed(error_kind, "the server did not open a WebSocket")
        self._write = self._write_frame

    def _fields(self) -> dict[str, str]:
        return {
            "Host": self._address.authority,
            "Upgrade": "websocket",
            "Connection": "Upgrade",
            "Sec-WebSocket-Key": KEY,
            "Sec-WebSocket-Version": "13",
            "Sec-WebSocket-Protocol": SUBPROTOCOL,
            **self._headers(),
        }

    def _write_frame(self, message: bytes) -> None:
        if self._transport is not None:
            self._transport.write(ws.frame(ws.TEXT, message, mask=MASK))

    def abort(self) -> None:
        transport, self._transport, self._connection = self._transport, None, None
        if transport is not None:
            transport.abort()
        super().abort()

    async def close(self) -> None:
        if self._transport is not None:
            self._transport.write(ws.close_frame(mask=MASK))
            self._transport.close()
        self._transport = self._connection = None
        MessageWire.abort(self)

    def _lost(self, connection: Connection, error: Exception | None) -> None:
        if connection is self._connection:
            self._end(RESET)

    def _end(self, error: str) -> None:
        if self._upgrade is not None and not self._upgrade.done():
            self._upgrade.set_result(error)
        transport, self._transport, self._connection = self._transport, None, None
        if transport is not None:
            transport.abort()
        self.lost(error)

    def _receive(self, data: bytes) -> None:
        if self._upgrade is not None and not self._upgrade.done():
            self._held += data
            rest = self._read_upgrade(self._upgrade)
            if rest is None:
                return
            data = rest
        for event in self._reader.feed(data):
            if isinstance(event, str):
                self.take(event.encode())
            elif isinstance(event, ws.Ping):
                if self._transport is not None:
                    self._transport.write(ws.frame(ws.PONG, event.payload, mask=MASK))
            elif isinstance(event, ws.Violation):
                return self._end(TOO_LARGE if event.code == ws.TOO_BIG else INVALID)
            elif not isinstance(event, ws.Pong):
                return self._end(RESET)

    def _read_upgrade(self, upgrade: asyncio.Future[str | None]) -> bytes | None:
        """The bytes after the head of the response; None while it is incomplete, or if it is a refusal."""
        end = self._held.find(HEAD_END)
        if end < 0:
            if len(self._held) > LONGEST_HEAD:
                self._end(INVALID)
            return None
        try:
            status = parse_head(bytes(self._held[:end])).status
        except BadResponse:
            self._end(INVALID)
            return None
        if status != _SWITCHING:
            self._end(http_status(status))
            return None
        upgrade.set_result(None)
        return bytes(self._held[end + 4 :])
