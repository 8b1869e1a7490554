"""A WebSocket from the client's side: text messages in both directions (RFC 6455)."""

from __future__ import annotations

import asyncio
import contextlib
import os
from base64 import b64encode
from collections import deque
from collections.abc import Callable, Iterable
from itertools import count
from typing import Final, cast

import httptools

from assay.model.client_error import ClientError, ConnectionFailed, HttpFailure, InvalidAnswer
from assay.model.client_limits import ClientLimits
from assay.model.definition import ToolDefinition
from assay.model.jsonrpc import Notification
from assay.model.visible import visible
from assay.protocol.codec import encode
from assay.protocol.framing.websocket import (
    NORMAL,
    PONG,
    TEXT,
    Close,
    MessageReader,
    Ping,
    Violation,
    WebSocketEvent,
    close_frame,
    frame,
)
from assay.protocol.http.upgrade import SUBPROTOCOL, VERSION, accept_key
from assay.revisions.revision import Revision

from .connect import connect, unreachable
from .http_head import request_head
from .http_hint import failure_hint
from .message import Outgoing, deliver
from .port import REFUSALS, Receiver, RefusedRequest
from .url import Address
from .url_link import DEFAULT, UrlLink, UrlOptions

STRAY_CHARACTERS: Final = 500
OFFER: Final = "Upgrade: websocket\r\nConnection: Upgrade\r\n"


class WebSocketLink(UrlLink, asyncio.Protocol):
    is_stateless = False
    is_process = False

    def __init__(self, address: Address, limits: ClientLimits, options: UrlOptions = DEFAULT) -> None:
        super().__init__(address, limits, options)
        self._transport: asyncio.Transport | None = None
        self._peer = ""
        self._reader: MessageReader | None = None
        self._writable = asyncio.Event()
        self._writable.set()
        self._problem: ClientError | None = None
        self._stray: deque[str] = deque(maxlen=limits.stderr_lines)
        """What arrived and was no message; errors show it."""
        self._ended = asyncio.Event()
        self._ended.set()

    async def open(self, receiver: Receiver) -> None:
        self._receiver = receiver
        if self._authorizer is None:
            return await self._open("")
        for attempt in count():
            lines, generation = await self._authorizer.lines("GET", self._address.url)
            try:
                return await self._open(lines)
            except HttpFailure as error:
                url = self._address.url
                refused = RefusedRequest(
                    error.status, error.headers, url, generation, attempt, peer=self._peer
                )
                if error.status not in REFUSALS or not await self._authorizer.recover(refused):
                    raise
            await self._wait_for_end()
            self._problem = None

    async def _open(self, lines: str) -> None:
        address, timeout = self._address, self._limits.connect_timeout
        key = b64encode(os.urandom(16))
        self._handshake = _Handshake(address, key, self._limits.head_bytes)
        await connect(lambda: self, address, self._tls, timeout, proxy=self._proxy)
        try:
            head = request_head("GET", address, self._user_lines + lines + _offer(key))
            self._write(head.encode("latin-1"))
            async with asyncio.timeout(timeout):
                await self._handshake.done
        except BaseException as error:
            self._abort()
            if type(error) is TimeoutError:
                raise unreachable(address, "no answer in time") from error
            raise

    async def send(self, message: Outgoing, revision: Revision) -> None:
        if self._transport is None or self._reader is None:
            raise self._reason()
        self._write(frame(TEXT, encode(message), mask=os.urandom(4)))
        if not self._writable.is_set():
            await self._writable.wait()

    def cancel(self, notice: Notification, revision: Revision) -> None:
        if self._reader is not None:
            self._write(frame(TEXT, encode(notice), mask=os.urandom(4)))

    def fallback(self, failure: HttpFailure | None) -> None:
        return

    async def follow(self, revision: Revision, opened: Callable[[], None]) -> None:
        return

    def learn(self, tools: Iterable[ToolDefinition]) -> None:
        return

    def context(self) -> str:
        return "".join(f"\n  not a message: {visible(text)}" for text in self._stray)

    # Callbacks of the event loop.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        name = transport.get_extra_info("peername")
        is_direct = isinstance(name, tuple) and self._proxy is None  # otherwise it is that of the proxy
        self._peer = str(name[0]) if is_direct else ""
        self._ended.clear()

    def data_received(self, data: bytes) -> None:
        if self._reader is None:
            rest = self._handshake.feed(data)
            if rest is None:
                return
            self._reader, data = MessageReader(self._limits.message_bytes, masked=False), rest
        for event in self._reader.feed(data):
            self._take(event)

    def pause_writing(self) -> None:
        self._writable.clear()

    def resume_writing(self) -> None:
        self._writable.set()

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None
        self._writable.set()
        self._ended.set()
        self._handshake.lost(exc)
        if self._problem is None:
            reason = f": {exc}" if exc is not None else ""
            self._problem = ConnectionFailed(f"the server closed the connection{reason}")
        if self._reader is not None:
            self._receiver.lost(self._reason)

    def _take(self, event: WebSocketEvent) -> None:
        match event:
            case str():
                if deliver(event.encode(), self._codec, self._receiver) is not None:
                    self._stray.append(event[:STRAY_CHARACTERS])
            case bytes():
                self._stray.append(f"(binary, {len(event)} bytes)")
            case Ping():
                if self._writable.is_set():  # otherwise the server does not read, and later pings follow
                    self._write(frame(PONG, event.payload, mask=os.urandom(4)))
            case Violation():
                self._fail(event.code, f"the server broke the WebSocket protocol: {event.reason}")
            case Close():
                self._on_close(event)
            case _:
                pass  # a pong answers nothing that we sent

    def _on_close(self, event: Close) -> None:
        if self._problem is None:
            reason = event.reason or "no reason given"
            self._problem = ConnectionFailed(f"the server closed the connection: {reason} ({event.code})")
        self._write(close_frame(NORMAL, mask=os.urandom(4)))
        if self._transport is not None:
            self._transport.close()

    def _fail(self, code: int, problem: str) -> None:
        self._problem = self._problem or InvalidAnswer(problem)
        self._write(close_frame(code, mask=os.urandom(4)))
        if self._transport is not None:
            self._transport.close()
        self._receiver.lost(self._reason)

    def _reason(self) -> ClientError:
        problem = self._problem or ConnectionFailed("the connection is closed")
        return type(problem)(*problem.args)

    def _write(self, data: bytes) -> None:
        if self._transport is not None and not self._transport.is_closing():
            self._transport.write(data)

    def _abort(self) -> None:
        if self._transport is not None:
            self._transport.abort()

    async def close(self) -> None:
        """The closing handshake, in bounded time."""
        if self._transport is not None and self._reader is not None:
            self._write(close_frame(NORMAL, mask=os.urandom(4)))
            await self._wait_for_end()
        self._abort()
        await self._wait_for_end()

    async def _wait_for_end(self) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self._limits.close_timeout):
                await self._ended.wait()


def _offer(key: bytes) -> str:
    return (
        f"{OFFER}Sec-WebSocket-Version: {VERSION.decode()}\r\nSec-WebSocket-Key: {key.decode()}\r\n"
        f"Sec-WebSocket-Protocol: {SUBPROTOCOL}\r\n\r\n"
    )


class _Handshake:
    """Parses the response to the upgrade; `done` is settled by its end."""

    def __init__(self, address: Address, key: bytes, head_bytes: int) -> None:
        self._address = address
        self._key = key
        self._room = head_bytes
        self._headers: dict[str, str] = {}
        self._body = b""
        self._parser = httptools.HttpResponseParser(self)
        self.done: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def feed(self, data: bytes) -> bytes | None:
        """What follows the head of an accepted upgrade; None until then."""
        if self.done.done():
            return None
        self._room -= len(data)
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade as upgrade:
            return data[upgrade.args[0] :] if self._is_accepted() else None
        except httptools.HttpParserError as error:
            self._fail(InvalidAnswer(f"the server's HTTP response is invalid: {error}"))
        if self._room < 0:
            self._fail(InvalidAnswer("the head of the server's HTTP response exceeds limits.head_bytes"))
        return None

    def _is_accepted(self) -> bool:
        problem = self._problem_of_upgrade()
        if problem is not None:
            self._fail(InvalidAnswer(f"the server's answer to the WebSocket handshake is invalid: {problem}"))
        elif not self.done.done():
            self.done.set_result(None)
        return problem is None

    def _problem_of_upgrade(self) -> str | None:
        headers = self._headers
        if self._parser.get_status_code() != 101:
            return f"its status is {self._parser.get_status_code()}, not 101"
        if headers.get("sec-websocket-accept") != accept_key(self._key).decode():
            return "Sec-WebSocket-Accept does not belong to this request"
        if headers.get("sec-websocket-protocol", SUBPROTOCOL) != SUBPROTOCOL:
            return "it selects a subprotocol that was not offered"
        return "it selects an extension" if "sec-websocket-extensions" in headers else None

    def _fail(self, error: ClientError) -> None:
        if not self.done.done():
            self.done.set_exception(error)

    def lost(self, error: Exception | None) -> None:
        reason = str(error) if error is not None else "the server closed the connection"
        self._fail(unreachable(self._address, reason))

    # Callbacks of the parser.

    def on_header(self, name: bytes, value: bytes) -> None:
        self._headers[name.decode("latin-1").lower()] = value.decode("latin-1")

    def on_body(self, data: bytes) -> None:
        self._body = (self._body + data)[:2000]

    def on_message_complete(self) -> None:
        status = self._parser.get_status_code()
        if status != 101:
            hint = failure_hint(status, self._headers) or "the server does not accept a WebSocket here"
            body = self._body.decode(errors="replace")
            self._fail(HttpFailure(self._address.url, status, body, self._headers, hint))
