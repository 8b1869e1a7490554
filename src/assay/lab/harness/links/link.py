"""What a peer needs of a transport. `stdio_link.py`, `http_link.py` and so on are one each."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, Protocol

from assay.lab.harness.trace.frame import Frame

from .broken_off import BrokenOff, NoAnswer
from .http_text import EVENT_STREAM, Head


class Inbox(Protocol):
    """The peer, as its link sees it. Frames are recorded before they are handed over."""

    def deliver(self, frame: Frame, body: bytes) -> None:
        """The subject sent one body."""

    def ended(self, channel: str) -> None:
        """Nothing more comes on that channel."""

    def fail(self, reason: BrokenOff) -> None:
        """Nothing more comes at all."""


class Sent:
    """A body on its way. Only HTTP answers a body as such; elsewhere it is settled once it is written."""

    def __init__(self, channel: str) -> None:
        self.channel = channel
        self.head: Head | None = None
        self.event_ids: list[str] = []
        """Of the events that came on it, if it is an event stream."""
        self.over: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        """Done when it was answered, and not with an event stream."""
        self._settled = asyncio.Event()
        self._begun = asyncio.Event()
        self._commented = asyncio.Event()
        self._finished = asyncio.Event()

    @property
    def may_stream(self) -> bool:
        """Whether it is answered with an event stream, or may still be."""
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
        """Wait until the transport has answered, as far as it does.

        Raises:
            NoAnswer: it did not in time.
        """
        if not await _happens(self._settled, patience):
            raise NoAnswer(f"the HTTP request on {self.channel}", patience)
        return self.head

    async def begun(self, patience: float) -> bool:
        """Wait for the first part of an event stream, or its end; false when neither came."""
        return await _happens(self._begun, patience)

    async def commented(self, patience: float) -> bool:
        """Wait for a comment on an event stream; false when none came."""
        return await _happens(self._commented, patience)

    async def finished(self, patience: float) -> bool:
        """Wait until the subject has ended the response; false when it did not."""
        return await _happens(self._finished, patience)


async def _happens(event: asyncio.Event, patience: float) -> bool:
    try:
        async with asyncio.timeout(patience):
            await event.wait()
    except TimeoutError:
        return False
    return True


class Link(Protocol):
    @property
    def is_local(self) -> bool:
        """Whether the subject is reached by a name of this machine."""

    def bear(self, token: str | None) -> None:
        """Show this token from now on, or none; where the transport has no place for one, nothing happens."""

    async def open(self) -> None:
        """
        Raises:
            TurnedAway: the subject does not let us in.
            Unreachable: there is no way to the subject.
        """

    async def send(self, body: bytes, message: Any, headers: Mapping[str, str | None]) -> Sent:
        """Send one body, framed as the transport does. `message` is its value, if it has one: HTTP
        repeats parts of it in headers; `headers` adds to those, or leaves one out where it is None."""

    def agreed(self, head: Head | None, version: str) -> None:
        """The handshake is over: remember the session and the version, where the transport carries them."""

    async def close(self) -> None: ...
