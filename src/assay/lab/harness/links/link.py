"""The interface between a peer and its transport; `stdio.py`, `http.py` and others implement `Link`."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, Final, Protocol

from assay.lab.harness.trace.frame import Frame
from assay.lab.harness.trace.recorder import Recorder

from .broken_off import BrokenOff, NoAnswer, NotListening, Unreachable
from .http_text import EVENT_STREAM, Head

UNREACHABLE: Final = "unreachable"
"""Mark of a local subject that refused a connection, although it accepted some when the run began."""


def note_unreachable(recorder: Recorder, name: str, reason: Unreachable, *, is_local: bool) -> None:
    """Record that the connection was refused: nothing listens any more.

    A timeout proves nothing on a busy machine, and of another host, the network may be the reason.
    """
    if is_local and isinstance(reason, NotListening):
        recorder.mark(f"{name}/marks", UNREACHABLE, reason=str(reason))


class Inbox(Protocol):
    """The peer, as its link sees it. The link records each frame before it delivers it."""

    def deliver(self, frame: Frame, body: bytes) -> None:
        """The subject sent a body."""

    def ended(self, channel: str) -> None:
        """The channel has ended."""

    def fail(self, reason: BrokenOff) -> None:
        """The whole link has ended."""


class Sent:
    """A body in transit. Only HTTP responds to a body as such; elsewhere it is settled once it is written."""

    def __init__(self, channel: str) -> None:
        self.channel = channel
        self.head: Head | None = None
        self.event_ids: list[str] = []
        """Ids of the events received, if the response is an event stream."""
        self.over: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        """Done when the response has ended and was not an event stream."""
        self._settled = asyncio.Event()
        self._begun = asyncio.Event()
        self._commented = asyncio.Event()
        self._finished = asyncio.Event()

    @property
    def may_stream(self) -> bool:
        """Whether the response is an event stream, or may still become one."""
        if self.head is None:
            return not self.is_finished
        return self.head.status == 200 and self.head.media_type == EVENT_STREAM

    def settle(self) -> None:
        self._settled.set()

    def begin(self) -> None:
        self._begun.set()

    def comment(self) -> None:
        self._commented.set()

    def finish(self) -> None:
        self.begin()
        self._finished.set()
        self.settle()
        if not self.may_stream and not self.over.done():
            self.over.set_result(None)

    @property
    def is_settled(self) -> bool:
        return self._settled.is_set()

    @property
    def is_finished(self) -> bool:
        """Whether the subject has ended the response."""
        return self._finished.is_set()

    async def settled(self, patience: float) -> Head | None:
        """Wait for the transport's response, if it has one.

        Raises:
            NoAnswer: no response in time.
        """
        if not await _is_set(self._settled, patience):
            raise NoAnswer(f"the HTTP request on {self.channel}", patience)
        return self.head

    async def begun(self, patience: float) -> bool:
        """Wait for the first event of a stream, or its end; false on a timeout."""
        return await _is_set(self._begun, patience)

    async def commented(self, patience: float) -> bool:
        """Wait for a comment on an event stream, another one with each call; false on a timeout."""
        if not await _is_set(self._commented, patience):
            return False
        self._commented.clear()
        return True

    async def finished(self, patience: float) -> bool:
        """Wait for the end of the response; false on a timeout."""
        return await _is_set(self._finished, patience)


async def _is_set(event: asyncio.Event, patience: float) -> bool:
    try:
        async with asyncio.timeout(patience):
            await event.wait()
    except TimeoutError:
        return False
    return True


class Link(Protocol):
    @property
    def is_local(self) -> bool:
        """Whether the subject's host name is a loopback name."""

    def use_token(self, token: str | None) -> None:
        """Send this bearer token from now on, or none. Ignored by transports that carry no credentials."""

    async def open(self) -> None:
        """
        Raises:
            ConnectionRejected: the subject refuses the connection.
            Unreachable: the subject cannot be reached.
        """

    async def send(self, body: bytes, message: Any, headers: Mapping[str, str | None]) -> Sent:
        """Send one body in the transport's framing. `message` is its decoded value, parts of which HTTP
        mirrors in headers; `headers` adds headers, or removes those whose value is None."""

    def agreed(self, head: Head | None, version: str) -> None:
        """After the handshake: remember the session and the version, where the transport carries them."""

    async def close(self) -> None: ...
