"""A connection whose requests are reported to observers. Others pay nothing for it: it is another class."""

from __future__ import annotations

from collections.abc import Collection
from time import perf_counter
from typing import TYPE_CHECKING, Final

from assay.protocol.http.asgi import AsgiScope
from assay.protocol.http.head_policy import Refusal

from .connection import HttpConnection
from .request_cycle import RequestCycle

if TYPE_CHECKING:
    from .server_state import ServerState

SWITCHING: Final = 101


class ObservedCycle(RequestCycle):
    _connection: ObservedConnection
    _status = 0
    _sent = 0

    def __init__(self, connection: HttpConnection, scope: AsgiScope, keep_alive: bool) -> None:
        super().__init__(connection, scope, keep_alive)
        self._began = perf_counter()

    def respond(self, status: int, headers: tuple[tuple[bytes, bytes], ...], body: bytes) -> None:
        self._status, self._sent = status, len(body)
        super().respond(status, headers, body)

    def _send_head(self, status: int, headers: Collection[tuple[bytes, bytes]]) -> None:
        self._status = status
        super()._send_head(status, headers)

    def _send_body(self, part: bytes, more: bool) -> None:
        self._sent += len(part)
        super()._send_body(part, more)

    def _end(self) -> None:
        self._connection.report(self.scope, self._status, self._sent, self._began)
        super()._end()


class ObservedConnection(HttpConnection):
    cycle_type = ObservedCycle

    def __init__(self, server: ServerState) -> None:
        super().__init__(server)
        assert server.observation is not None
        self.report = server.observation.report

    def _write_refusal(self, refusal: Refusal) -> None:
        super()._write_refusal(refusal)
        self.report({"headers": (), **self._addresses}, refusal.status, len(refusal.body()))

    def _become_websocket(self, rest: bytes) -> None:
        scope = self._scope()
        super()._become_websocket(rest)
        if self._parser is None:
            self.report(scope, SWITCHING, 0)
