"""WebSocket: a session for as long as a connection lasts, one message in each text frame.

It behaves as stdio does. The rules of who may connect are those of HTTP.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from contextvars import copy_context
from secrets import token_urlsafe
from typing import Any, Final, NamedTuple

from assay.model.scope import Scope
from assay.protocol.framing.websocket import GOING_AWAY, INTERNAL, POLICY, TOO_BIG, UNSUPPORTED
from assay.protocol.http.asgi import AsgiScope, Message, Receive, Transmit
from assay.protocol.http.gate import JSON, Gate, Refusal, merge_headers
from assay.protocol.http.upgrade import choose_subprotocol
from assay.protocol.stepping import Resumed
from assay.transport.port import Endpoint

from .certified import scope_of_certificate
from .websocket_writer import Writer

logger = logging.getLogger("assay")

AT_ONCE: Final = 1024
"""Messages of one client in progress, beyond which no more are read until some have been served."""
FAREWELL: Final = 1.0
"""Seconds for what ends early, and for the last words to the client."""


class Ending(NamedTuple):
    """Why a connection ends; without a code when the client has left and there is nobody to tell."""

    code: int | None
    reason: str = ""


LEFT: Final = Ending(None)
STOPPING: Final = Ending(GOING_AWAY, "the server is stopping")
BINARY: Final = Ending(UNSUPPORTED, "messages are text: binary frames have no meaning here")
TOO_SLOW: Final = Ending(POLICY, "too much is waiting to be read")
FAILED: Final = Ending(INTERNAL, "internal error")


class Link:
    """One client. Whichever task takes a message stays with it until it is served.

    When that takes time, another task goes on taking messages: so those that are served at once, as most
    are, need no task of their own.
    """

    def __init__(self, endpoint: Endpoint, asgi: AsgiScope, receive: Receive, transmit: Transmit) -> None:
        self._endpoint = endpoint
        self._receive = receive
        self._writer = Writer(transmit, endpoint.limits, self._spawn, lambda: self.end(TOO_SLOW))
        self._scope = Scope(transport="websocket", raw_headers=asgi["headers"])
        given: Scope | None = asgi.get("assay")
        if given is None and "extensions" in asgi:
            given = scope_of_certificate(asgi["extensions"])
        if given is not None:
            self._scope.principal, self._scope.scopes = given.principal, given.scopes
            self._scope.state = given.state
        self._scope.session = endpoint.open_session(
            self._writer.post, session_id=token_urlsafe(24), principal=self._scope.principal
        )
        self._loop = asyncio.get_running_loop()
        self._tasks: set[asyncio.Task[None]] = set()
        self._taker: asyncio.Task[None] | None = None
        self._taking = True
        self._ended: asyncio.Future[Ending] = self._loop.create_future()
        self.finished = asyncio.Event()

    async def run(self) -> None:
        """Serve until one side ends the connection."""
        self._go_on_taking()
        try:
            ending = await self._ended
            if ending is STOPPING:
                await self._drain()
            self._let_go()
            await self._part(ending)
        finally:
            self._let_go()  # whatever has happened, be it that the host has cancelled us
            self._abandon()
            self.finished.set()

    def end(self, ending: Ending) -> None:
        """End the connection; whoever says so first decides what the client is told."""
        if not self._ended.done():
            self._ended.set_result(ending)
        if ending is not STOPPING:
            self._let_go()
            self._writer.stop()

    def _go_on_taking(self) -> None:
        if self._taker is None and self._taking and len(self._tasks) < AT_ONCE:
            self._taker = self._spawn(self._take())

    def _spawn(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = self._loop.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._finished)
        return task

    async def _take(self) -> None:
        """Take messages and serve them, up to the first that cannot be served at once."""
        limit = self._endpoint.limits.message_bytes
        while self._taking:
            message = await self._receive()
            text = message.get("text")
            if text is None or size_of(text) > limit:
                return self.end(ending_of(message, limit))
            # A context of its own, as if it had a task of its own.
            context = copy_context()
            serving = self._serve(text)
            try:
                waiting_for = context.run(serving.send, None)
            except StopIteration:
                continue
            self._taker = None
            self._go_on_taking()
            await Resumed(serving, waiting_for, context)
            return

    async def _serve(self, text: str) -> None:
        reply = await self._endpoint.handle(text, send=self._writer.send, scope=self._scope)
        if reply is not None:
            await self._writer.send(reply)

    def _finished(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            logger.error("WebSocket connection failed", exc_info=error)
            self.end(FAILED)
        self._go_on_taking()

    async def _drain(self) -> None:
        """Let what runs finish, for a while."""
        if running := self._running():
            await asyncio.wait(running, timeout=self._endpoint.limits.drain)

    def _let_go(self) -> None:
        """Take nothing more, and end the session, which cancels what runs. Twice is harmless."""
        self._taking = False
        self._endpoint.close_session(self._scope.session)

    async def _part(self, ending: Ending) -> None:
        if running := self._running():
            await asyncio.wait(running, timeout=FAREWELL)
        if ending.code is not None:
            await self._writer.close(ending.code, ending.reason, FAREWELL)

    def _running(self) -> set[asyncio.Task[None]]:
        """The tasks that are with a message."""
        return {task for task in self._tasks if task is not self._taker}

    def _abandon(self) -> None:
        """Cancel whoever waits for messages, and what did not end with its session."""
        for task in self._tasks:
            task.cancel()


def size_of(text: str) -> int:
    """In bytes."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def ending_of(message: Message, limit: int) -> Ending:
    """What it means that this is no message that can be served."""
    if message["type"] == "websocket.disconnect":
        return LEFT
    if message.get("text") is None:
        return BINARY
    return Ending(TOO_BIG, f"message too big: limit {limit} bytes")


class WebSockets:
    """The WebSocket side of an application."""

    def __init__(self, endpoint: Endpoint, gate: Gate, is_here: Callable[[AsgiScope], bool]) -> None:
        self._endpoint = endpoint
        self._gate = gate
        self._is_here = is_here
        self._links: set[Link] = set()

    def __len__(self) -> int:
        return len(self._links)

    async def serve(self, asgi: AsgiScope, receive: Receive, transmit: Transmit) -> None:
        if (await receive())["type"] != "websocket.connect":
            return
        refusal = self._refusal(asgi)
        chosen = choose_subprotocol(asgi.get("subprotocols") or ()) if refusal is None else refusal
        if isinstance(chosen, Refusal):
            return await turn_away(asgi, chosen, transmit)
        await transmit({"type": "websocket.accept", "subprotocol": chosen, "headers": []})
        link = Link(self._endpoint, asgi, receive, transmit)
        self._links.add(link)
        try:
            await link.run()
        finally:
            self._links.discard(link)

    def _refusal(self, asgi: AsgiScope) -> Refusal | None:
        if not self._is_here(asgi):
            return Refusal(404, f"no WebSocket here: {asgi['path']}")
        headers = dict(asgi["headers"])
        return merge_headers(asgi["headers"], headers) or self._gate.judge_source(
            headers.get(b"host"), headers.get(b"origin")
        )

    async def close(self) -> None:
        """Tell every client that the server is stopping, and wait until what runs for them has ended."""
        links = list(self._links)
        for link in links:
            link.end(STOPPING)
        for link in links:
            await link.finished.wait()


async def turn_away(asgi: AsgiScope, refusal: Refusal, transmit: Transmit) -> None:
    """Refuse to connect: with an HTTP response where the server can carry one, else it makes a bare 403."""
    if "websocket.http.response" not in (asgi.get("extensions") or {}):
        return await transmit({"type": "websocket.close", "code": POLICY, "reason": refusal.reason})
    body = refusal.body()
    headers = [JSON, (b"content-length", b"%d" % len(body)), *refusal.headers]
    await transmit({"type": "websocket.http.response.start", "status": refusal.status, "headers": headers})
    return await transmit({"type": "websocket.http.response.body", "body": body})
