"""The three types that ASGI is made of, and what our own server offers beside them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, Protocol

from assay.protocol.http.policy import HttpPolicy

AsgiScope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Transmit = Callable[[Message], Awaitable[None]]
"""ASGI's `send`; named apart from the `Send` that carries protocol messages."""
Answer = Callable[[int, tuple[tuple[bytes, bytes], ...], bytes], None]


class Direct(Protocol):
    """A `send` that can do more than ASGI asks. A server that has the whole request, and takes a whole
    response, need not be spoken to in parts; ours is one, any other is spoken to in plain ASGI."""

    @property
    def whole(self) -> bytes | None:
        """The body, if all of it is here; it counts as received then."""

    answer: Answer
    """Send a whole response: status, headers without its length, body."""

    async def __call__(self, message: Message) -> None: ...


class DirectSocket(Protocol):
    """The same for a WebSocket."""

    def say(self, text: bytes) -> bool:
        """Send a text message, if that can be done at once; false where it must be sent by ASGI."""

    async def __call__(self, message: Message) -> None: ...


class Application(Protocol):
    """An endpoint as an ASGI application, alone or with something before it."""

    @property
    def policy(self) -> HttpPolicy: ...

    async def __call__(self, scope: AsgiScope, receive: Receive, send: Transmit) -> None: ...

    def start(self) -> None:
        """Begin what goes on beside the requests, before the first of them."""

    async def close(self) -> None:
        """End all sessions and streams, so that the HTTP server can stop."""
