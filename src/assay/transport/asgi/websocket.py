"""MCP over WebSocket: one session per connection, one message per text frame.

Messages are served as on stdio; Host and Origin are checked as for HTTP.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Sequence
from contextvars import copy_context
from secrets import token_urlsafe
from typing import Any, Final

from assay.model.visible import visible_record
from assay.protocol.byte_budget import FREE_BYTES
from assay.protocol.coroutine import SuspendedCoroutine
from assay.protocol.framing.websocket import POLICY, TOO_BIG
from assay.protocol.http.asgi import AsgiScope, Message, Receive, Transmit
from assay.protocol.http.client_address import Network
from assay.protocol.http.head_policy import JSON, HeadPolicy, Refusal, merge_headers
from assay.protocol.http.upgrade import choose_subprotocol
from assay.protocol.scope import Scope, adopted
from assay.transport.port import Endpoint

from .body_pace import BodyPace
from .client_certificate import scope_of_certificate
from .close_reason import BINARY, BUSY, DISCONNECTED, FAILED, STOPPING, TOO_MANY_LARGE, CloseReason
from .request import address_of
from .websocket_writer import WebSocketWriter

logger = logging.getLogger("assay")
logger.addFilter(visible_record)

CONCURRENT_MESSAGES: Final = 1024
"""Messages of one client in progress before reading pauses."""
CLOSE_TIMEOUT: Final = 1.0
"""Seconds that cancelled handlers have to end, and then the close frame to be written."""


class WebSocketSession:
    """One client. The task that receives a message also serves it.

    Only if that has to wait does another task take over receiving. So a message that is served at once, as
    most are, needs no separate task.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        asgi: AsgiScope,
        receive: Receive,
        transmit: Transmit,
        pace: BodyPace,
        trusted_proxies: Sequence[Network] = (),
    ) -> None:
        self._endpoint = endpoint
        self._receive = receive
        self._pace = pace
        self._scope = Scope(
            transport="websocket",
            raw_headers=asgi["headers"],
            client_address=lambda: address_of(asgi, trusted_proxies),
        )
        host_scope: Scope | None = asgi.get("assay")
        if host_scope is None and "extensions" in asgi:
            host_scope = scope_of_certificate(asgi["extensions"])
        if host_scope is not None:
            self._scope = adopted(host_scope, self._scope)
        self._share = endpoint.byte_budget.share(self._scope.client_key)
        """The messages that are being served."""
        self._served_bytes = 0
        unread = endpoint.byte_budget.share(self._scope.client_key)
        self._writer = WebSocketWriter(transmit, endpoint.limits, unread, self._spawn, self.end)
        self._session = self._scope.session = endpoint.open_session(
            self._writer.post, session_id=token_urlsafe(24), principal=self._scope.principal
        )
        self._loop = asyncio.get_running_loop()
        self._tasks: set[asyncio.Task[None]] = set()
        self._receiver_task: asyncio.Task[None] | None = None
        self._receiving = True
        self._ended: asyncio.Future[CloseReason] = self._loop.create_future()
        self.finished = asyncio.Event()

    async def run(self) -> None:
        """Serve until either side ends the connection."""
        self._ensure_receiver()
        try:
            ending = await self._ended
            if ending is STOPPING:
                await self._drain()
                self._close_session(STOPPING.reason)
            self._close_session()
            await self._send_close(ending)
        finally:
            self._close_session()  # in case the host has cancelled this task
            self._writer.stop()
            self._cancel_tasks()
            self.finished.set()

    def end(self, ending: CloseReason) -> None:
        """End the connection. The first reason given is the one sent to the client."""
        if not self._ended.done():
            self._ended.set_result(ending)
        if ending is not STOPPING:
            self._close_session()
            self._writer.stop()

    def _ensure_receiver(self) -> None:
        if self._receiver_task is None and self._receiving and len(self._tasks) < CONCURRENT_MESSAGES:
            self._receiver_task = self._spawn(self._receive_messages())

    def _spawn(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = self._loop.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._finished)
        return task

    async def _receive_messages(self) -> None:
        """Receive messages and serve them, up to the first that cannot be served at once."""
        limit = self._endpoint.limits.message_bytes
        while self._receiving:
            message = await self._receive()
            text = message.get("text")
            if text is None or utf8_size(text) > limit:
                return self.end(ending_of(message, limit))
            is_large = len(text) > FREE_BYTES
            if is_large and not await self._admit_large(len(text)):
                return
            # As in a separate task, context variables that a handler sets must not reach the next message.
            context = copy_context()
            serving = self._serve_large(text) if is_large else self._serve(text)
            try:
                waiting_for = context.run(serving.send, None)
            except StopIteration:
                continue
            self._receiver_task = None
            self._ensure_receiver()
            await SuspendedCoroutine(serving, waiting_for, context)
            return

    async def _serve(self, text: str) -> None:
        reply = await self._endpoint.handle(text, send=self._writer.send, scope=self._scope)
        if reply is not None:
            await self._writer.send(reply)

    async def _admit_large(self, size: int) -> bool:
        """Count the bytes of a message until it has been answered, and wait for the client's turn. Nothing
        more is read meanwhile."""
        self._served_bytes += size
        if not self._share.resize(self._served_bytes):
            self._release_large(size)
            self.end(BUSY)
            return False
        try:
            admitted = await self._pace.wait(self._scope.client_key, size)
        except asyncio.CancelledError:
            self._release_large(size)
            raise
        if not admitted:
            self._release_large(size)
            self.end(TOO_MANY_LARGE)
        return admitted

    def _release_large(self, size: int) -> None:
        self._served_bytes -= size
        self._share.resize(self._served_bytes)

    async def _serve_large(self, text: str) -> None:
        try:
            await self._serve(text)
        finally:
            self._release_large(len(text))

    def _finished(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if task is self._receiver_task:
            self._receiver_task = None
        if not task.cancelled() and (error := task.exception()) is not None:
            logger.error("WebSocket connection failed", exc_info=error)
            self.end(FAILED)
        self._ensure_receiver()

    async def _drain(self) -> None:
        """Wait for messages in progress, up to the limit."""
        if running := self._running():
            await asyncio.wait(running, timeout=self._endpoint.limits.drain)

    def _close_session(self, reason: str | None = None) -> None:
        """Stop receiving and end the session with its handlers. Requests in progress are answered with the
        reason, if there is one. Idempotent."""
        self._receiving = False
        self._endpoint.close_session(self._session, reason)

    async def _send_close(self, ending: CloseReason) -> None:
        if running := self._running():
            await asyncio.wait(running, timeout=CLOSE_TIMEOUT)
        if ending.code is not None:
            await self._writer.close(ending.code, ending.reason, CLOSE_TIMEOUT)

    def _running(self) -> set[asyncio.Task[None]]:
        """The tasks that serve a message."""
        return {task for task in self._tasks if task is not self._receiver_task}

    def _cancel_tasks(self) -> None:
        """Cancel the receiver, and handlers that did not end with the session."""
        for task in self._tasks:
            task.cancel()


def utf8_size(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def ending_of(message: Message, limit: int) -> CloseReason:
    """Why an event that is not an acceptable text message ends the connection."""
    if message["type"] == "websocket.disconnect":
        return DISCONNECTED
    if message.get("text") is None:
        return BINARY
    return CloseReason(TOO_BIG, f"message too big: limit {limit} bytes")


class WebSockets:
    """All WebSocket connections of an application."""

    def __init__(
        self,
        endpoint: Endpoint,
        head_policy: HeadPolicy,
        pace: BodyPace,
        is_here: Callable[[AsgiScope], bool],
    ) -> None:
        self._endpoint = endpoint
        self._pace = pace
        self._head_policy = head_policy
        self._is_here = is_here
        self._sessions: set[WebSocketSession] = set()
        self.stopping: Refusal | None = None
        """What new connections are refused with while the server stops."""

    def __len__(self) -> int:
        return len(self._sessions)

    async def serve(self, asgi: AsgiScope, receive: Receive, transmit: Transmit) -> None:
        if (await receive())["type"] != "websocket.connect":
            return
        refusal = self._refusal(asgi) or self.stopping
        subprotocol = choose_subprotocol(asgi.get("subprotocols") or ()) if refusal is None else refusal
        if isinstance(subprotocol, Refusal):
            return await reject(asgi, subprotocol, transmit)
        await transmit({"type": "websocket.accept", "subprotocol": subprotocol, "headers": []})
        trusted_proxies = self._head_policy.policy.trusted_proxies
        session = WebSocketSession(self._endpoint, asgi, receive, transmit, self._pace, trusted_proxies)
        self._sessions.add(session)
        try:
            await session.run()
        finally:
            self._sessions.discard(session)

    def _refusal(self, asgi: AsgiScope) -> Refusal | None:
        if not self._is_here(asgi):
            return Refusal(404, f"no WebSocket endpoint at {asgi['path']}")
        headers = dict(asgi["headers"])
        return merge_headers(asgi["headers"], headers) or self._head_policy.check_source(
            headers.get(b"host"), headers.get(b"origin")
        )

    async def close(self) -> None:
        """Close every connection, and wait for the messages in progress."""
        sessions = list(self._sessions)
        for session in sessions:
            session.end(STOPPING)
        for session in sessions:
            await session.finished.wait()


async def reject(asgi: AsgiScope, refusal: Refusal, transmit: Transmit) -> None:
    """Refuse a connection, with an HTTP response if the server supports it; otherwise it sends a bare 403."""
    if "websocket.http.response" not in (asgi.get("extensions") or {}):
        return await transmit({"type": "websocket.close", "code": POLICY, "reason": refusal.reason})
    body = refusal.body()
    headers = [JSON, (b"content-length", b"%d" % len(body)), *refusal.headers]
    await transmit({"type": "websocket.http.response.start", "status": refusal.status, "headers": headers})
    return await transmit({"type": "websocket.http.response.body", "body": body})
