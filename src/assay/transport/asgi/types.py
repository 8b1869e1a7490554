"""What our own server offers beside ASGI."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from assay.protocol.http.asgi import Message

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
