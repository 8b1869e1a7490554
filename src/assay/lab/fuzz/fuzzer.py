"""A whole run: get to know the subject, then try cases at every place in turn until the time is up."""

from __future__ import annotations

import asyncio
import random
import time
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Final

from msgspec import Struct

from assay.lab.harness.links.broken_off import BrokenOff
from assay.lab.harness.reason import Reason, ReasonKind, stored
from assay.lab.harness.run.recording import INTERRUPTED, Conditions, now
from assay.lab.harness.run.run import FORMAT, CellResult, Run, SubjectRecord
from assay.lab.harness.run.runner import Keep
from assay.lab.harness.subject.subject import Subject
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import CheckResult, Outcome
from assay.model.version import VERSION
from assay.revisions.revision import Revision

from .acquaintance import meet, stop_all
from .case import Case
from .choice import Choices
from .finding import Again, Found, is_new
from .jury import Broken, Jury
from .memory import Memory
from .place import Place
from .search import Enough, Search
from .talk import SCENARIO
from .wire_grammar import case as made_case

UNTRIED: Final = Reason(ReasonKind.NOT_OBSERVED, "no case was tried")
FIRST_ROUND: Final = 25
ROUND: Final = 250
"""Cases of one round: after it, it is another place's turn."""


class FuzzOrder(Struct, frozen=True):
    seed: int
    seconds: float
    conditions: Conditions = Conditions()
    revisions: tuple[Revision, ...] = ()
    effects: bool = False
    strict: bool = False
    most: int = 0
    """Findings after which it ends; nought for any number."""
    cases: tuple[Case, ...] = ()
    """These only, each once at every place."""


class Count(Struct):
    """How far a run is, for whoever watches."""

    cases: int = 0
    steps: int = 0
    found: int = 0
    place: str = ""


class Fuzzer:
    def __init__(
        self,
        order: FuzzOrder,
        jury: Jury,
        subjects: Sequence[Subject],
        *,
        keep: Keep,
        again: Again,
        watch: Callable[[Count], None] = lambda count: None,
    ) -> None:
        self._order = order
        self._jury = jury
        self._given = tuple(subjects)
        self._keep = keep
        self._again = again
        self._watch = watch
        self._begin = time.monotonic()
        self._stopped = self._interrupted = False
        self._memory = Memory()
        self._seen: dict[Place, Counter[str]] = {}
        self._last: dict[Place, Trace] = {}
        self._evidence: dict[Case, Trace] = {}
        self._ended: dict[Place, str] = {}
        self.count = Count()
        self.places: list[Place] = []
        self.found: list[Found] = []
        self.unsure: list[tuple[Place, Broken, Case]] = []
        """What was seen once, and not again."""

    async def run(self) -> Run:
        """
        Raises:
            SubjectDown: nothing can be judged.
            CheckFailed: a check is broken.
        """
        started, records = now(), list[SubjectRecord]()
        try:
            for subject in self._given:
                record, places = await self._meet(subject)
                records.append(record)
                self.places += places
            await self._all()
        except asyncio.CancelledError:
            self._interrupted = True  # Ctrl-C: what is known is kept and told
        finally:
            await asyncio.shield(self._close())
        return Run(
            format=FORMAT,
            assay=VERSION,
            started=started,
            seconds=round(time.monotonic() - self._begin, 3),
            subjects=records,
            cells=[*self._found_cells(), *self._other_cells(started)],
            strict=self._order.strict,
            interrupted=self._interrupted,
            problem="" if self.places else "the server speaks none of the revisions asked for",
        )

    async def _meet(self, subject: Subject) -> tuple[SubjectRecord, list[Place]]:
        order = self._order
        return await meet(subject, order.revisions, order.conditions, order.effects)

    async def _close(self) -> None:
        self._stopped = True
        for place in self.places:
            await place.close()
        await stop_all(self._given)

    async def _all(self) -> None:
        if self._order.cases:
            for place in self.places:
                for case in self._order.cases:
                    await self._once(place, case)
            return
        self._begin, turn = time.monotonic(), 0
        while not (turn and self._is_over) and (
            left := [one for one in self.places if one not in self._ended]
        ):
            for place in left:
                await self._round(place, turn)
            turn += 1

    @property
    def _is_over(self) -> bool:
        enough = 0 < self._order.most <= len(self.found)
        return self._stopped or enough or time.monotonic() - self._begin > self._order.seconds

    def _is_over_at(self, place: Place) -> bool:
        """However little time there is, every place gets a case."""
        return self._stopped or (self._is_over and place.cases > 0)

    async def _round(self, place: Place, turn: int) -> None:
        if self._is_over_at(place):
            return
        where = f"{place.ground.transport} {place.ground.revision}"
        self.count.place = where
        seed = random.Random(f"{self._order.seed} {where} {turn}").getrandbits(64)
        loop = asyncio.get_running_loop()

        def attempt(case: Case) -> Broken | None:
            # What was found is made smaller even when the time is up: that has a bound of its own.
            if place in self._ended or self._stopped or (search.broken is None and self._is_over_at(place)):
                raise Enough
            return asyncio.run_coroutine_threadsafe(self._try(place, case), loop).result()

        search = Search(attempt, lambda broken, case: self._is_new(place, broken, case))
        examples = FIRST_ROUND if turn == 0 else ROUND
        await self._in_thread(lambda: search.run(lambda choices: self._make(place, choices), seed, examples))
        if search.broken is not None:
            await self._take(place, search)
        if (grown := self._memory.grown(place)) is not None:
            self._add(place, grown[0], Case(()), self._last[place], [grown[1]])
        self._evidence.clear()

    def _make(self, place: Place, choices: Choices) -> Case:
        return made_case(choices, place.ground)

    async def _in_thread(self, work: Callable[[], None]) -> None:
        running = asyncio.get_running_loop().run_in_executor(None, _quietly, work)
        try:
            await asyncio.shield(running)
        except asyncio.CancelledError:
            self._stopped = True  # the thread ends with its next case, and needs this loop until then
            await asyncio.wait({running})
            raise

    async def _try(self, place: Place, case: Case) -> Broken | None:
        try:
            trace = await place.hold(case)
        except BrokenOff as reason:
            self._ended[place] = str(reason)
            return None
        self._last[place] = trace
        self._memory.sample(place)
        broken = self._jury.verdict(trace, self._seen.setdefault(place, Counter()))
        if broken is not None:
            self._evidence[case] = trace
        self.count.cases += 1
        self.count.steps += len(case.steps)
        self._watch(self.count)
        return broken

    def _is_new(self, place: Place, broken: Broken, case: Case) -> bool:
        doubtful = any(
            one.subject is place.subject and old == broken and seen.labels <= case.labels
            for one, old, seen in self.unsure
        )
        return not doubtful and is_new(self.found, place, broken, case)

    async def _take(self, place: Place, search: Search) -> None:
        """Believe what the search found only if it happens again, on its own and with all patience."""
        assert search.smallest is not None and search.first is not None and search.broken is not None
        for case in dict.fromkeys((search.smallest, search.first)):
            trace = await self._confirmed(place, case)
            again = self._jury.verdict(trace)
            if again is not None:
                if is_new(self.found, place, again, case):
                    self._add(place, again, case, trace, self._jury.results(trace, again))
                return
        place.doubt()
        self.unsure.append((place, search.broken, search.smallest))

    async def _confirmed(self, place: Place, case: Case) -> Trace:
        try:
            return await place.confirm(case)
        except BrokenOff as reason:
            self._ended[place] = str(reason)
            return self._evidence[case]  # it is gone for good: that is what there is

    async def _once(self, place: Place, case: Case) -> None:
        try:
            trace = await place.confirm(case)
        except BrokenOff as reason:
            self._ended[place] = str(reason)
            return
        self._last[place] = trace
        self.count.cases += 1
        self.count.steps += len(case.steps)
        broken = self._jury.verdict(trace, self._seen.setdefault(place, Counter()))
        if broken is not None:
            self._add(place, broken, case, trace, self._jury.results(trace, broken))

    def _add(
        self, place: Place, broken: Broken, case: Case, trace: Trace, results: list[CheckResult]
    ) -> None:
        self.found.append(Found(place, broken, case, trace, results, now()))
        self.count.found = len(self.found)
        self._watch(self.count)

    def _found_cells(self) -> list[CellResult]:
        attempts: Counter[tuple[str, Place]] = Counter()
        cells = []
        for one in self.found:
            attempts[one.broken.check, one.place] += 1
            cell = one.cell(attempts[one.broken.check, one.place], self._again)
            cells.append(self._keep(cell, one.trace))
        return cells

    def _other_cells(self, started: str) -> list[CellResult]:
        """A place where nothing was found is a result too, and so is one that was never reached."""
        silent = [one for one in self.places if not any(found.place is one for found in self.found)]
        return [self._cell(one, started) for one in silent]

    def _cell(self, place: Place, started: str) -> CellResult:
        trace = self._last.get(place)
        reason = None
        if ended := self._ended.get(place):
            reason = Reason(ReasonKind.BROKE_OFF, ended)
        elif not trace:
            reason = INTERRUPTED if self._interrupted else UNTRIED
        cell = CellResult(
            scenario=SCENARIO,
            title=f"{place.cases} made-up conversations",
            transport=place.ground.transport,
            revision=place.ground.revision.date,
            outcome=Outcome.PASSED if reason is None else Outcome.INCOMPLETE,
            started=started,
            **stored(reason),
            broke_off=reason is not None,
            checks=self._jury.held(self._seen.get(place, Counter()), place.ground.revision),
        )
        return cell if trace is None else self._keep(cell, trace)


def _quietly(work: Callable[[], None]) -> None:
    """An exception that says enough is none to whoever waits for the thread."""
    try:
        work()
    except Enough:
        pass
