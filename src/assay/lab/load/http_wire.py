"""HTTP/1.1 on one persistent connection: one request at a time, and its answer as JSON or as a stream."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Final

from msgspec import UNSET

from assay.lab.harness.driver.message_meta import mirror_headers
from assay.protocol.framing.sse import SseParser, SseTooLong
from assay.revisions.revision import Opening

from .answer import error_of, read_answer
from .error_kind import INVALID, RESET, TIMEOUT, TOO_LARGE, http_status
from .operation import FIRST_ID, Operation
from .response import HEAD_END, LONGEST_HEAD, BadResponse, ChunkReader, HeadCache, ResponseHead
from .tcp import Connection, Route
from .wire import MOST_BYTES, OpeningFailed, Receiver, WireSettings, now, opening_messages, within

OPENING: Final = Operation(kind="sessions", name="opening", method="")
DRAIN: Final = 10**9
"""Nanoseconds for the end of a stream after its answer. Then the connection is given up."""
_ACCEPTED: Final = 202
_NOT_FOUND: Final = 404


class HttpWire:
    capacity = 1
    process_id = None
    lost_session = False

    def __init__(
        self,
        settings: WireSettings,
        receiver: Receiver,
        route: Route,
        headers: Callable[[], Mapping[str, str]],
        heads: HeadCache,
    ) -> None:
        self._settings = settings
        self._receiver = receiver
        self._route = route
        self._address = route.address
        self._headers = headers
        self._heads = heads
        self._transport: asyncio.Transport | None = None
        self._connection: Connection | None = None
        self._session: str | None = None
        self._version: str | None = None
        self._requests: dict[str, tuple[bytes, ...]] = {}
        self._next_id = FIRST_ID
        self._operation: Operation | None = None
        self._intended = self._sent = self._previous = 0
        self._waiting: asyncio.Future[tuple[ResponseHead | None, str | None]] | None = None
        self._reset_response()

    def _reset_response(self) -> None:
        self._head: ResponseHead | None = None
        self._held = bytearray()
        self._chunks: ChunkReader | None = None
        self._events: SseParser | None = None
        self._answered: tuple[int, str | None] | None = None

    @property
    def in_flight(self) -> int:
        return self._operation is not None

    @property
    def is_usable(self) -> bool:
        return self._transport is not None and self._operation is None and not self._transport.is_closing()

    # The session.

    async def open(self) -> None:
        self.abort()
        self._session = self._version = None
        self.lost_session = False
        request, notification = opening_messages(self._settings.revision)
        head = await within(self._settings.timeout, self._post(request, self._opening_headers()))
        self._session = head.session if head is not None else None
        if notification is not None:
            self._version = self._settings.revision.date
            await within(self._settings.timeout, self._post(notification, {}, is_answered=False))
        if not self.is_usable:
            await within(self._settings.timeout, self._connect())
        self.refresh()

    async def reconnect(self) -> None:
        """A new connection in the same session, as after `Connection: close`."""
        await within(self._settings.timeout, self._connect())

    def refresh(self) -> None:
        """Write the heads of the requests again: a token may be new."""
        encoded = self._settings.operations
        self._requests = {
            name: (self._head_of("POST", each.size, each.headers) + each.parts[0], *each.parts[1:])
            for name, each in encoded.items()
        }

    def _opening_headers(self) -> Mapping[str, str]:
        revision = self._settings.revision
        if revision.opening is not Opening.PER_REQUEST:
            return {}
        mirrored = mirror_headers(revision, {"method": "server/discover"})
        return {name: value for name, value in mirrored.items() if value is not None}

    def _head_of(self, method: str, size: int, headers: Mapping[str, str]) -> bytes:
        fields = {
            "Host": self._address.authority,
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            "Content-Length": str(size),
            **({"Mcp-Session-Id": self._session} if self._session else {}),
            **({"MCP-Protocol-Version": self._version} if self._version and self._has_version else {}),
            **self._headers(),
            **headers,
        }
        lines = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
        return f"{method} {self._address.target} HTTP/1.1\r\n{lines}\r\n".encode("latin-1")

    @property
    def _has_version(self) -> bool:
        return self._settings.revision.http.version_header

    async def _connect(self) -> None:
        self.abort()
        self._transport, self._connection = await self._route.connect(self._receive, self._lost)

    async def _post(
        self, body: bytes, headers: Mapping[str, str], *, is_answered: bool = True
    ) -> ResponseHead | None:
        if not self.is_usable:
            await self._connect()
        self._waiting = asyncio.get_running_loop().create_future()
        self._next_id = FIRST_ID
        self._write(OPENING, now(), self._head_of("POST", len(body), headers) + body)
        try:
            head, error = await self._waiting
        finally:
            self._waiting = None
        if error is not None and (is_answered or error != INVALID):
            raise OpeningFailed(error)
        return head

    async def close(self) -> None:
        if self._session is not None and self.is_usable:
            assert self._transport is not None
            self._transport.write(self._head_of("DELETE", 0, {}))
        if self._transport is not None:
            self._transport.close()
        self._transport = None

    # Operations.

    def send(self, operation: Operation, intended: int) -> None:
        self._next_id += 1
        parts = self._requests[operation.name]
        self._write(operation, intended, str(self._next_id).encode().join(parts))

    def _write(self, operation: Operation, intended: int, data: bytes) -> None:
        assert self._transport is not None
        self._operation = operation
        self._intended = intended
        self._sent = now()
        self._previous = 0
        self._transport.write(data)

    def expire(self, before: int) -> None:
        if self._operation is None:
            return
        if self._answered is not None:
            if self._answered[0] < now() - DRAIN:
                self._finish(keeps_alive=False)
        elif self._sent < before:
            self._fail(TIMEOUT)

    def abort(self) -> None:
        self._disconnect()
        if self._operation is not None:
            self._fail(RESET)

    def _disconnect(self) -> None:
        transport, self._transport, self._connection = self._transport, None, None
        if transport is not None:
            transport.abort()

    def _fail(self, error: str) -> None:
        self._answered = (now(), error)
        self._finish(keeps_alive=False)

    def _finish(self, *, keeps_alive: bool) -> None:
        operation, answered, head = self._operation, self._answered, self._head
        assert operation is not None and answered is not None
        self._operation = None
        self._reset_response()
        if not keeps_alive:
            self._disconnect()
        at, error = answered
        if operation is OPENING:
            if self._waiting is not None and not self._waiting.done():
                self._waiting.set_result((head, error))
            return
        self._receiver.completed(self, operation, self._intended, at, error)

    # The connection's side.

    def _lost(self, connection: Connection, error: Exception | None) -> None:
        if connection is not self._connection:
            return  # an earlier one
        self._transport = self._connection = None
        if self._operation is None:
            return
        if self._answered is None and error is None and self._ends_with_connection():
            self._read_whole(bytes(self._held), keeps_alive=False)
        elif self._answered is not None:
            self._finish(keeps_alive=False)
        else:
            self._fail(RESET)

    def _ends_with_connection(self) -> bool:
        head = self._head
        return head is not None and not head.chunked and head.length is None and not head.is_stream

    def _receive(self, data: bytes) -> None:
        if self._operation is None:
            self.abort()  # nothing was requested
            return
        if self._head is None and not self._held:
            # Nearly every answer arrives whole: no state, no copy.
            end = data.find(HEAD_END)
            if end > 0:
                try:
                    head = self._heads.get(data[:end])
                except BadResponse:
                    return self._fail(INVALID)
                if head.length == len(data) - end - 4 and head.status >= 200 and not head.is_stream:
                    self._head = head
                    return self._read_whole(data[end + 4 :], keeps_alive=head.keeps_alive)
        try:
            self._read_part(data)
        except BadResponse:
            self._fail(INVALID)
        except SseTooLong:
            self._fail(TOO_LARGE)

    def _read_part(self, data: bytes) -> None:
        if self._head is None:
            self._held += data
            body = self._read_head()
            if body is None:
                return
            data = body
        head = self._head
        assert head is not None
        over = False
        if head.chunked:
            self._chunks = self._chunks or ChunkReader()
            data = self._chunks.feed(data)
            over = self._chunks.is_over
        if head.is_stream:
            self._read_events(data)
        else:
            self._held += data
            over = over or (head.length is not None and len(self._held) >= head.length)
            if len(self._held) > MOST_BYTES or (head.length or 0) > MOST_BYTES:
                return self._fail(TOO_LARGE)
        if over and self._operation is not None:
            self._end_response(head)

    def _end_response(self, head: ResponseHead) -> None:
        if head.is_stream:
            self._answered = self._answered or (now(), RESET)
            self._finish(keeps_alive=head.keeps_alive)
        else:
            self._read_whole(bytes(self._held), keeps_alive=head.keeps_alive)

    def _read_head(self) -> bytes | None:
        """The bytes after the head; None while it is incomplete."""
        while True:
            end = self._held.find(HEAD_END)
            if end < 0:
                if len(self._held) > LONGEST_HEAD:
                    raise BadResponse("the head is too long")
                return None
            head = self._heads.get(bytes(self._held[:end]))
            rest = bytes(self._held[end + 4 :])
            self._held = bytearray()
            if head.status >= 200:
                self._head = head
                return rest
            self._held += rest  # an interim response

    def _read_whole(self, body: bytes, *, keeps_alive: bool) -> None:
        assert self._head is not None
        status = self._head.status
        if 200 <= status < 300:
            empty = status == _ACCEPTED and not body
            error = INVALID if empty else error_of(read_answer(body), self._next_id)
        else:
            error = http_status(status)
            self.lost_session = status == _NOT_FOUND and self._session is not None
        self._answered = (now(), error)
        self._finish(keeps_alive=keeps_alive)

    def _read_events(self, data: bytes) -> None:
        if self._events is None:
            self._events = SseParser(MOST_BYTES)
        at = now()
        for event in self._events.feed(data):
            if not event.data or self._answered is not None:
                continue
            answer = read_answer(event.data)
            if answer is not None and answer.method is not UNSET:
                assert self._operation is not None
                self._receiver.message(self._operation, self._sent, self._previous, at, event.data)
                self._previous = at
            else:
                self._answered = (at, error_of(answer, self._next_id))
