"""Faster ways to answer than ASGI's, offered by our own HTTP server.

ASGI passes a request body and a response in parts: three awaited calls and three dictionaries, although both
are usually complete in memory. That is measurable, so `transport/http1` gives our application a
`send` of one of these classes. The application recognises it by its type, once, and calls it directly.

Any other server, and any middleware that wraps `send`, passes another type and is spoken to in plain ASGI. So
a middleware sees everything that it would see without this.
"""

from __future__ import annotations

from assay.protocol.http.asgi import Message


class WholeResponseSend:
    """ASGI's `send` of a request that can also be answered in one call."""

    __slots__ = ()

    def take_whole_body(self) -> bytes | None:
        """The request body, if all of it has been received and none of it was read; otherwise read it with
        `receive`. Use this only if `receive` is the one of this object: a middleware may have replaced it."""
        raise NotImplementedError

    async def receive(self) -> Message:
        raise NotImplementedError

    def respond(self, status: int, headers: tuple[tuple[bytes, bytes], ...], body: bytes) -> None:
        """Send a whole response; `headers` come without `content-length`, the status has a body."""
        raise NotImplementedError

    async def __call__(self, message: Message) -> None:
        raise NotImplementedError


class ImmediateTextSend:
    """ASGI's `send` of a WebSocket that can also send a text message without being awaited."""

    __slots__ = ()

    def try_send_text(self, text: bytes) -> bool:
        """Send a text message now, or return false where it must wait and be sent by ASGI."""
        raise NotImplementedError

    async def __call__(self, message: Message) -> None:
        raise NotImplementedError
