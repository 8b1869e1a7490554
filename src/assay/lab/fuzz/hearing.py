"""What is owed to the driver in one case, and what of it has come."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, Final

from assay.lab.harness.driver.peer import Peer
from assay.lab.harness.links.broken_off import BrokenOff
from assay.lab.harness.trace.frame import Frame
from assay.lab.harness.trace.message import Message, read_messages

Owed = tuple[str, Any]
CHANNEL: Final = "channel"
"""In place of the type of an id: the end of an HTTP response is owed."""


def owed_id(request_id: Any) -> Owed:
    """An id as JSON tells it apart: 1 and true are equal to Python."""
    return type(request_id).__name__, request_id


class Hearing:
    """Stands between a link and its peer: hears all that the peer hears."""

    def __init__(self, peer: Peer) -> None:
        self._peer = peer
        self._owed: dict[Owed, str | None] = {}
        self._hoped = self._strays = 0
        self._strict = False
        self._news = asyncio.Event()

    def begin(self, *, strict: bool = False) -> None:
        """Another case: nothing is owed yet. Strict where only good requests are sent, each with its id:
        there an answer that belongs to nothing stands for one that will not come."""
        self._owed.clear()
        self._hoped = self._strays = 0
        self._strict = strict

    def expect(self, owed: Owed, channel: str | None = None) -> None:
        """Something is owed; the end of that HTTP response would settle it too."""
        self._owed[owed] = channel

    def excuse(self) -> None:
        """What was asked so far may be answered, or not."""
        self._hoped += len(self._owed)
        self._owed.clear()

    def hope(self) -> None:
        """Something may be answered that need not be."""
        self._hoped += 1

    @property
    def is_settled(self) -> bool:
        """Whether all that is owed has come."""
        return len(self._owed) <= self._strays or self._peer.broken is not None

    @property
    def is_calm(self) -> bool:
        """Whether nothing can come any more that belongs to this case."""
        return self.is_settled and (self._hoped <= 0 or self._peer.broken is not None)

    async def settle(self, patience: float) -> bool:
        """Wait until all that is owed has come; false when it did not in that time."""
        return await self._until(lambda: self.is_settled, patience)

    async def calm(self, patience: float) -> bool:
        """Wait a little longer for what is only hoped for."""
        return await self._until(lambda: self.is_calm, patience)

    async def _until(self, happened: Callable[[], bool], patience: float) -> bool:
        try:
            async with asyncio.timeout(patience):
                while not happened():
                    self._news.clear()
                    await self._news.wait()
        except TimeoutError:
            return False
        return True

    def _take(self, answer: Message) -> None:
        owed = owed_id(_hashable(answer.id))
        if owed in self._owed:
            del self._owed[owed]
        elif self._hoped > 0:
            self._hoped -= 1
        else:
            self._strays += self._strict

    # The link's side.

    def deliver(self, frame: Frame, body: bytes) -> None:
        for message in read_messages(frame, body):
            # What cannot be read is an answer all the same, to something odd.
            if message.is_response or message.value is None:
                self._take(message)
        self._peer.deliver(frame, body)
        self._news.set()

    def ended(self, channel: str) -> None:
        for owed in [one for one, place in self._owed.items() if place == channel]:
            del self._owed[owed]
        self._peer.ended(channel)
        self._news.set()

    def fail(self, reason: BrokenOff) -> None:
        self._peer.fail(reason)
        self._news.set()


def _hashable(value: Any) -> Any:
    return repr(value) if isinstance(value, dict | list) else value
