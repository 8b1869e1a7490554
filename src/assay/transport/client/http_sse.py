"""HTTP+SSE, the transport of the first revision, from the client's side.

A GET opens a stream of events. Its `endpoint` event names the address for the client's messages; everything
that the server sends, answers too, arrives on the stream. Clients use it for servers that refuse the POST of
Streamable HTTP (basic/transports#backwards-compatibility).
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Final

from assay.model.client_error import ClientError, ConnectionFailed, HttpFailure, InvalidAnswer
from assay.model.jsonrpc import Request
from assay.model.visible import visible
from assay.protocol.codec import encode
from assay.protocol.framing.sse import SseTooLong
from assay.revisions.revision import Revision

from .http import ACCEPT, HttpLink, HttpTask
from .http_reply import EVENT_STREAM, HttpReply
from .message import Outgoing, deliver
from .port import REPEATABLE, Receiver
from .url import Address, redirected

ENDPOINT_BYTES: Final = 4096
STRAY_CHARACTERS: Final = 500


class SseLink(HttpLink):
    """Takes over the address, headers and connections of a link for Streamable HTTP."""

    is_stateless = False

    def __init__(self, http: HttpLink) -> None:
        # All of it, so that whatever decides about requests there does so here.
        self.__dict__.update(vars(http))
        self._url = http.endpoint
        self._stray: deque[str] = deque(maxlen=self._limits.stderr_lines)
        self._problem: ClientError | None = None
        self._reading: asyncio.Task[None] | None = None

    @property
    def endpoint(self) -> str:
        return f"{self._url} (HTTP+SSE)"

    async def open(self, receiver: Receiver) -> None:
        self._receiver = receiver
        self._named: asyncio.Future[Address] = asyncio.get_running_loop().create_future()
        self._reading = asyncio.get_running_loop().create_task(self._read())
        timeout = self._limits.connect_timeout
        try:
            async with asyncio.timeout(timeout):
                self._address = await self._named
        except TimeoutError:
            raise ConnectionFailed(f"no endpoint event from {self._url} in {timeout:g} s") from None

    async def _read(self) -> None:
        """Receive the stream to its end."""
        try:
            reply = await self._exchange(HttpTask("GET", f"Accept: {EVENT_STREAM}\r\n", b"", False), None)
            if reply.is_stream:
                self._problem = ConnectionFailed("the server ended the event stream")
            else:
                self._problem = self._failure(reply, None)
        except ClientError as error:
            self._problem = error
        if self._named.done():
            self._receiver.lost(self._reason)
        else:
            self._named.set_exception(self._problem)

    def _reason(self) -> ClientError:
        problem = self._problem or ConnectionFailed("the connection is closed")
        return type(problem)(*problem.args)

    def _new_reply(self, task: HttpTask, request_id: object) -> HttpReply:
        if task.method != "GET":
            return super()._new_reply(task, request_id)
        return _Stream(self)

    def take_endpoint(self, data: bytes) -> None:
        """
        Raises:
            InvalidAnswer: it is not an address of the same origin, which alone may get the user's headers.
        """
        if self._named.done():
            return
        text = data[:ENDPOINT_BYTES].decode(errors="replace")
        try:
            address = redirected(self._address, text) if len(data) <= ENDPOINT_BYTES else None
        except ValueError:
            address = None
        if address is None:
            raise InvalidAnswer(
                f"the server's endpoint is not an address of its own origin: {visible(text[:200])}"
            )
        # Errors show the address; its query often is the secret of the session.
        self._named.set_result(address._replace(url=address.url.partition("?")[0]))

    def take_message(self, data: bytes) -> None:
        if deliver(data, self._codec, self._receiver) is not None:
            self._stray.append(data[:STRAY_CHARACTERS].decode(errors="replace"))

    async def send(self, message: Outgoing, revision: Revision) -> None:
        if self._reading is None or self._reading.done():
            raise self._reason()
        is_request = isinstance(message, Request)
        repeatable = not is_request or message.method in REPEATABLE  # type: ignore[union-attr]
        reply = await self._exchange(HttpTask("POST", ACCEPT, encode(message), repeatable), None)
        if not reply.is_success:
            raise self._failure(reply, "of the stream")

    def fallback(self, failure: HttpFailure | None) -> None:
        return None

    async def follow(self, revision: Revision, opened: Callable[[], None]) -> None:
        return

    def context(self) -> str:
        return "".join(f"\n  not a message: {visible(text)}" for text in self._stray)

    async def close(self) -> None:
        reading, self._reading = self._reading, None
        if reading is not None and not reading.done():
            reading.cancel()
            await asyncio.wait([reading], timeout=self._limits.close_timeout)
        if not self._named.cancel() and not self._named.cancelled():
            self._named.exception()  # `open` has raised it
        await self._pool.close()


class _Stream(HttpReply):
    """The response that never ends."""

    def __init__(self, link: SseLink) -> None:
        super().__init__(link._limits, link._codec, link._receiver.receive)
        self._takes: dict[str, Callable[[bytes], None]] = {
            "endpoint": link.take_endpoint,
            "message": link.take_message,
        }

    def _feed(self, data: bytes) -> None:
        try:
            events = self.events.feed(data)
        except SseTooLong as error:
            raise self._too_large() from error
        for event in events:
            take = self._takes.get(event.event)
            if take is not None:
                take(event.data)
