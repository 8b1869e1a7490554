"""A target of fuzzing: a subject on one transport at one revision, and its open conversation."""

from __future__ import annotations

from itertools import pairwise
from typing import Final, Protocol, runtime_checkable

from assay.lab.harness.links.broken_off import BrokenOff
from assay.lab.harness.subject.subject import Subject
from assay.lab.harness.trace.recorder import Redaction
from assay.lab.harness.trace.trace import Trace

from .case import Case
from .conversation import FuzzConversation
from .grammar_context import GrammarContext

LEAST, MOST = 0.3, 1.5
TIMES: Final = 10.0
"""A missing answer is suspicious after so many times the slowest answer so far, within these bounds."""


@runtime_checkable
class Restartable(Protocol):
    """A subject that the lab started and can start again."""

    @property
    def process_id(self) -> int | None: ...


class FuzzTarget:
    def __init__(
        self,
        subject: Subject,
        context: GrammarContext,
        *,
        patience: float,
        redaction: Redaction | None = None,
    ) -> None:
        self.subject = subject
        self.context = context
        self.patience = patience
        self.cases = 0
        self.steps = 0
        self._redaction = redaction
        self._conversation: FuzzConversation | None = None
        self._slowest = 0.0
        self._caution = 1.0

    @property
    def short_patience(self) -> float:
        """The timeout of the search. What it reports is confirmed later with the full patience."""
        return min(self.patience, self._caution * min(MOST, max(LEAST, TIMES * self._slowest)))

    def slow_down(self) -> None:
        """The search timed out too early."""
        self._caution *= 3

    @property
    def process_id(self) -> int | None:
        own = self._conversation.process_id if self._conversation is not None else None
        return own or (self.subject.process_id if isinstance(self.subject, Restartable) else None)

    async def run(self, case: Case) -> Trace:
        """Run a case in the open conversation, or in a new one if that cannot continue.

        Raises:
            BrokenOff: the subject cannot be reached.
        """
        conversation = await self._open()
        trace = await conversation.run(case, self.short_patience)
        self.cases += 1
        self.steps += len(case.steps)
        if not conversation.spent:
            # The longest pause of a case in which every answer came shows how slow the server can be.
            self._slowest = max(self._slowest * 0.999, _longest_pause(trace))
        return trace

    async def confirm(self, case: Case) -> Trace:
        """Run a case in a new conversation with the full patience."""
        await self.close()
        conversation = await self._open()
        self.cases += 1
        try:
            return await conversation.run(case, self.patience, thorough=True)
        finally:
            await self.close()

    async def _open(self) -> FuzzConversation:
        if self._conversation is not None and not self._conversation.spent:
            return self._conversation
        await self.close()
        try:
            self._conversation = await self._new_conversation()
        except BrokenOff:
            # The server is gone or hangs; restart it if the lab started it.
            if not isinstance(self.subject, Restartable) or self.subject.process_id is None:
                raise
            await self.subject.stop()
            await self.subject.start()
            self._conversation = await self._new_conversation()
        return self._conversation

    async def _new_conversation(self) -> FuzzConversation:
        conversation = FuzzConversation(
            self.subject, self.context.revision, patience=self.patience, redaction=self._redaction
        )
        try:
            await conversation.open()
        except BrokenOff:
            await conversation.close()
            raise
        return conversation

    async def close(self) -> None:
        if self._conversation is not None:
            conversation, self._conversation = self._conversation, None
            await conversation.close()


def _longest_pause(trace: Trace) -> float:
    times = [frame.t for frame in trace.frames[-8:]]
    return max((later - earlier for earlier, later in pairwise(times)), default=0.0)
