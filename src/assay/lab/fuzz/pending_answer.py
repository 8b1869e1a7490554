"""The answers that a case waits for."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, Final

from assay.lab.harness.driver.peer import Peer
from assay.lab.harness.links.broken_off import BrokenOff
from assay.lab.harness.trace.frame import Frame
from assay.lab.harness.trace.message import Message, read_messages

AnswerKey = tuple[str, Any]
CHANNEL: Final = "channel"
"""Takes the place of the type of an id if the end of an HTTP response is expected."""


def answer_key(request_id: Any) -> AnswerKey:
    """Ids with their types, because 1 and true are equal in Python but not in JSON."""
    return type(request_id).__name__, request_id


class PendingAnswers:
    """Sits between a link and its peer, and sees everything that the peer receives."""

    def __init__(self, peer: Peer) -> None:
        self._peer = peer
        self._expected: dict[AnswerKey, str | None] = {}
        self._optional = self._strays = 0
        self._strict = False
        self._changed = asyncio.Event()

    def begin(self, *, strict: bool = False) -> None:
        """Start another case. In a strict case every request is valid and has its own id, so an answer that
        matches no request counts in place of one that will not come."""
        self._expected.clear()
        self._optional = self._strays = 0
        self._strict = strict

    def expect(self, key: AnswerKey, channel: str | None = None) -> None:
        """Expect an answer, or the end of the HTTP response on that channel."""
        self._expected[key] = channel

    def make_optional(self) -> None:
        """The answers that are expected so far need not come."""
        self._optional += len(self._expected)
        self._expected.clear()

    def allow(self) -> None:
        """One more answer may come, but need not."""
        self._optional += 1

    @property
    def is_complete(self) -> bool:
        """Whether every expected answer has come."""
        return len(self._expected) <= self._strays or self._peer.broken is not None

    @property
    def is_quiet(self) -> bool:
        """Whether no answer of this case can come any more."""
        return self.is_complete and (self._optional <= 0 or self._peer.broken is not None)

    async def complete(self, patience: float) -> bool:
        """Wait for every expected answer; returns False after a timeout."""
        return await self._until(lambda: self.is_complete, patience)

    async def quiet(self, patience: float) -> bool:
        """Wait for the optional answers, too."""
        return await self._until(lambda: self.is_quiet, patience)

    async def _until(self, condition: Callable[[], bool], patience: float) -> bool:
        try:
            async with asyncio.timeout(patience):
                while not condition():
                    self._changed.clear()
                    await self._changed.wait()
        except TimeoutError:
            return False
        return True

    def _count(self, answer: Message) -> None:
        key = answer_key(_hashable(answer.id))
        if key in self._expected:
            del self._expected[key]
        elif self._optional > 0:
            self._optional -= 1
        else:
            self._strays += self._strict

    # The interface of a peer, for the link.

    def deliver(self, frame: Frame, body: bytes) -> None:
        for message in read_messages(frame, body):
            # A body that cannot be decoded counts as an answer to an odd message.
            if message.is_response or message.value is None:
                self._count(message)
        self._peer.deliver(frame, body)
        self._changed.set()

    def ended(self, channel: str) -> None:
        for key in [key for key, expected_on in self._expected.items() if expected_on == channel]:
            del self._expected[key]
        self._peer.ended(channel)
        self._changed.set()

    def fail(self, reason: BrokenOff) -> None:
        self._peer.fail(reason)
        self._changed.set()


def _hashable(value: Any) -> Any:
    return repr(value) if isinstance(value, dict | list) else value
