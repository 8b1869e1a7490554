"""One place to fuzz: a subject on one transport at one revision, and the conversation for the next case."""

from __future__ import annotations

from itertools import pairwise
from typing import Final, Protocol, runtime_checkable

from assay.lab.harness.links.broken_off import BrokenOff
from assay.lab.harness.subject.subject import Subject
from assay.lab.harness.trace.redaction import Redaction
from assay.lab.harness.trace.trace import Trace

from .case import Case
from .ground import Ground
from .talk import Talk

LEAST, MOST = 0.3, 1.5
TIMES: Final = 10.0
"""How many times the slowest answer so far is waited for before something is suspected, in these bounds."""


@runtime_checkable
class Restartable(Protocol):
    """A subject that the lab started, and can start again."""

    @property
    def process_id(self) -> int | None: ...


class Place:
    def __init__(
        self, subject: Subject, ground: Ground, *, patience: float, redaction: Redaction | None = None
    ) -> None:
        self.subject = subject
        self.ground = ground
        self.patience = patience
        self.cases = 0
        self.steps = 0
        self._redaction = redaction
        self._talk: Talk | None = None
        self._slowest = 0.0
        self._doubt = 1.0

    @property
    def hasty(self) -> float:
        """A patience for the search: what it takes for silence is looked at again with all of it."""
        return min(self.patience, self._doubt * min(MOST, max(LEAST, TIMES * self._slowest)))

    def doubt(self) -> None:
        """It was too hasty."""
        self._doubt *= 3

    @property
    def process_id(self) -> int | None:
        own = self._talk.process_id if self._talk is not None else None
        return own or (self.subject.process_id if isinstance(self.subject, Restartable) else None)

    async def hold(self, case: Case) -> Trace:
        """Try a case in the conversation that is open, or in a new one where it is spent.

        Raises:
            BrokenOff: there is nobody to talk to.
        """
        talk = await self._open()
        trace = await talk.hold(case, self.hasty)
        self.cases += 1
        self.steps += len(case.steps)
        if not talk.spent:
            # The longest pause of a case that was answered to the end is how slow the server can be.
            self._slowest = max(self._slowest * 0.999, _pause(trace))
        return trace

    async def confirm(self, case: Case) -> Trace:
        """Try a case in a conversation of its own, with all patience."""
        await self.close()
        talk = await self._open()
        self.cases += 1
        try:
            return await talk.hold(case, self.patience, thorough=True)
        finally:
            await self.close()

    async def _open(self) -> Talk:
        if self._talk is not None and not self._talk.spent:
            return self._talk
        await self.close()
        try:
            self._talk = await self._opened()
        except BrokenOff:
            # Gone, or deaf for good: what the lab started it can start again.
            if not isinstance(self.subject, Restartable) or self.subject.process_id is None:
                raise
            await self.subject.stop()
            await self.subject.start()
            self._talk = await self._opened()
        return self._talk

    async def _opened(self) -> Talk:
        talk = Talk(self.subject, self.ground.revision, patience=self.patience, redaction=self._redaction)
        try:
            await talk.open()
        except BrokenOff:
            await talk.close()
            raise
        return talk

    async def close(self) -> None:
        if self._talk is not None:
            talk, self._talk = self._talk, None
            await talk.close()


def _pause(trace: Trace) -> float:
    times = [frame.t for frame in trace.frames[-8:]]
    return max((later - earlier for earlier, later in pairwise(times)), default=0.0)
