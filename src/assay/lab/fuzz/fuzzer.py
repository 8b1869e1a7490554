"""A fuzzing run: finds the targets, then runs cases at each of them in turn until the time is up."""

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
from assay.lab.harness.run.ending import INTERRUPTED
from assay.lab.harness.run.recording import Conditions, now
from assay.lab.harness.run.run import FORMAT, CellResult, Run, SubjectRecord
from assay.lab.harness.run.runner import StoreTrace
from assay.lab.harness.subject.facts import Permission
from assay.lab.harness.subject.subject import Subject
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import CheckResult, Outcome
from assay.model.version import VERSION
from assay.revisions.revision import Revision

from .case import Case
from .choice import Choices
from .conversation import SCENARIO
from .finding import FuzzFinding, Reproduce, is_new
from .judge import BrokenRule, TraceJudge
from .memory_watch import MemoryWatch
from .search import Search, StopSearch
from .target import FuzzTarget
from .target_discovery import find_targets, stop_all
from .wire_grammar import case as make_case

UNTRIED: Final = Reason(ReasonKind.NOT_OBSERVED, "no case was tried")
FIRST_ROUND: Final = 25
ROUND: Final = 250
"""Cases of a round; then follows the next target."""


class FuzzOrder(Struct, frozen=True):
    seed: int
    seconds: float
    conditions: Conditions = Conditions()
    revisions: tuple[Revision, ...] = ()
    permission: Permission = Permission.READ_ONLY
    strict: bool = False
    most: int = 0
    """The number of findings after which the run ends; zero for no limit."""
    cases: tuple[Case, ...] = ()
    """If not empty, run only these cases, once at each target."""


class FuzzCounts(Struct):
    cases: int = 0
    steps: int = 0
    findings: int = 0
    target: str = ""


class Fuzzer:
    def __init__(
        self,
        order: FuzzOrder,
        judge: TraceJudge,
        subjects: Sequence[Subject],
        *,
        keep: StoreTrace,
        reproduce: Reproduce,
        watch: Callable[[FuzzCounts], None] = lambda counts: None,
    ) -> None:
        self._order = order
        self._judge = judge
        self._subjects = tuple(subjects)
        self._keep = keep
        self._reproduce = reproduce
        self._watch = watch
        self._begin = time.monotonic()
        self._stopped = self._interrupted = False
        self._memory = MemoryWatch()
        self._observations: dict[FuzzTarget, Counter[str]] = {}
        self._last: dict[FuzzTarget, Trace] = {}
        self._evidence: dict[Case, Trace] = {}
        self._lost: dict[FuzzTarget, str] = {}
        """Targets that cannot be reached any more, with the reason."""
        self.counts = FuzzCounts()
        self.targets: list[FuzzTarget] = []
        self.findings: list[FuzzFinding] = []
        self.unconfirmed: list[tuple[FuzzTarget, BrokenRule, Case]] = []
        """Findings of the search that could not be reproduced."""

    async def run(self) -> Run:
        """
        Raises:
            SubjectDown: the subject cannot be judged.
            CheckFailed: a check is broken.
        """
        started, records = now(), list[SubjectRecord]()
        order = self._order
        try:
            for subject in self._subjects:
                record, targets = await find_targets(
                    subject, order.revisions, order.conditions, order.permission
                )
                records.append(record)
                self.targets += targets
            await self._run_all()
        except asyncio.CancelledError:
            self._interrupted = True  # Ctrl-C: the findings so far are still reported
        finally:
            await asyncio.shield(self._close())
        return Run(
            format=FORMAT,
            assay=VERSION,
            started=started,
            seconds=round(time.monotonic() - self._begin, 3),
            subjects=records,
            cells=[*self._finding_cells(), *self._other_cells(started)],
            strict=self._order.strict,
            interrupted=self._interrupted,
            problem="" if self.targets else "the server supports none of the selected revisions",
        )

    async def _close(self) -> None:
        self._stopped = True
        for target in self.targets:
            await target.close()
        await stop_all(self._subjects)

    async def _run_all(self) -> None:
        if self._order.cases:
            for target in self.targets:
                for case in self._order.cases:
                    await self._run_once(target, case)
            return
        self._begin, turn = time.monotonic(), 0
        while not (turn and self._is_over) and (remaining := self._remaining()):
            for target in remaining:
                await self._round(target, turn)
            turn += 1

    def _remaining(self) -> list[FuzzTarget]:
        return [target for target in self.targets if target not in self._lost]

    @property
    def _is_over(self) -> bool:
        enough = 0 < self._order.most <= len(self.findings)
        return self._stopped or enough or time.monotonic() - self._begin > self._order.seconds

    def _is_over_at(self, target: FuzzTarget) -> bool:
        """Every target gets at least one case, even if the time is up."""
        return self._stopped or (self._is_over and target.cases > 0)

    async def _round(self, target: FuzzTarget, turn: int) -> None:
        if self._is_over_at(target):
            return
        self.counts.target = f"{target.context.transport} {target.context.revision}"
        seed = random.Random(f"{self._order.seed} {self.counts.target} {turn}").getrandbits(64)
        loop = asyncio.get_running_loop()

        def attempt(case: Case) -> BrokenRule | None:
            # Shrinking continues after the time is up: it has its own limit.
            time_is_up = search.broken is None and self._is_over_at(target)
            if target in self._lost or self._stopped or time_is_up:
                raise StopSearch
            return asyncio.run_coroutine_threadsafe(self._try(target, case), loop).result()

        def make(choices: Choices) -> Case:
            return make_case(choices, target.context)

        search = Search(attempt, lambda broken, case: self._is_new(target, broken, case))
        examples = FIRST_ROUND if turn == 0 else ROUND
        await self._in_thread(lambda: search.run(make, seed, examples))
        if search.broken is not None:
            await self._confirm(target, search)
        if (growth := self._memory.finding(target)) is not None:
            self._add(target, growth[0], Case(()), self._last[target], [growth[1]])
        self._evidence.clear()

    async def _in_thread(self, work: Callable[[], None]) -> None:
        running = asyncio.get_running_loop().run_in_executor(None, _until_stopped, work)
        try:
            await asyncio.shield(running)
        except asyncio.CancelledError:
            self._stopped = True  # the thread ends with its next case, and needs this loop until then
            await asyncio.wait({running})
            raise

    async def _try(self, target: FuzzTarget, case: Case) -> BrokenRule | None:
        try:
            trace = await target.run(case)
        except BrokenOff as reason:
            self._lost[target] = str(reason)
            return None
        self._memory.sample(target)
        broken = self._verdict(target, case, trace)
        if broken is not None:
            self._evidence[case] = trace
        self._watch(self.counts)
        return broken

    def _verdict(self, target: FuzzTarget, case: Case, trace: Trace) -> BrokenRule | None:
        self._last[target] = trace
        self.counts.cases += 1
        self.counts.steps += len(case.steps)
        return self._judge.verdict(trace, self._observations.setdefault(target, Counter()))

    def _is_new(self, target: FuzzTarget, broken: BrokenRule, case: Case) -> bool:
        doubtful = any(
            earlier.subject is target.subject and rule == broken and shown_by.labels <= case.labels
            for earlier, rule, shown_by in self.unconfirmed
        )
        return not doubtful and is_new(self.findings, target, broken, case)

    async def _confirm(self, target: FuzzTarget, search: Search) -> None:
        """Add a finding only if it occurs again, in a new session and with the full patience."""
        assert search.smallest is not None and search.first is not None and search.broken is not None
        for case in dict.fromkeys((search.smallest, search.first)):
            trace = await self._confirmed_trace(target, case)
            broken = self._judge.verdict(trace)
            if broken is not None:
                if is_new(self.findings, target, broken, case):
                    self._add(target, broken, case, trace, self._judge.results(trace, broken))
                return
        target.slow_down()
        self.unconfirmed.append((target, search.broken, search.smallest))

    async def _confirmed_trace(self, target: FuzzTarget, case: Case) -> Trace:
        try:
            return await target.confirm(case)
        except BrokenOff as reason:
            self._lost[target] = str(reason)
            return self._evidence[case]  # the server is gone, so the first trace is the only evidence

    async def _run_once(self, target: FuzzTarget, case: Case) -> None:
        try:
            trace = await target.confirm(case)
        except BrokenOff as reason:
            self._lost[target] = str(reason)
            return
        broken = self._verdict(target, case, trace)
        if broken is not None:
            self._add(target, broken, case, trace, self._judge.results(trace, broken))

    def _add(
        self, target: FuzzTarget, broken: BrokenRule, case: Case, trace: Trace, results: list[CheckResult]
    ) -> None:
        self.findings.append(FuzzFinding(target, broken, case, trace, results, now()))
        self.counts.findings = len(self.findings)
        self._watch(self.counts)

    def _finding_cells(self) -> list[CellResult]:
        attempts: Counter[tuple[str, FuzzTarget]] = Counter()
        cells = []
        for finding in self.findings:
            key = finding.broken.check, finding.target
            attempts[key] += 1
            cells.append(self._keep(finding.cell(attempts[key], self._reproduce), finding.trace))
        return cells

    def _other_cells(self, started: str) -> list[CellResult]:
        """A cell for each target without findings, also for one that no case reached."""
        with_findings = {finding.target for finding in self.findings}
        return [self._cell(target, started) for target in self.targets if target not in with_findings]

    def _cell(self, target: FuzzTarget, started: str) -> CellResult:
        trace = self._last.get(target)
        reason = None
        if lost := self._lost.get(target):
            reason = Reason(ReasonKind.BROKE_OFF, lost)
        elif not trace:
            reason = INTERRUPTED if self._interrupted else UNTRIED
        cell = CellResult(
            scenario=SCENARIO,
            title=f"{target.cases} generated conversations",
            transport=target.context.transport,
            revision=target.context.revision.date,
            outcome=Outcome.PASSED if reason is None else Outcome.INCOMPLETE,
            started=started,
            **stored(reason),
            broke_off=reason is not None,
            checks=self._judge.passed(self._observations.get(target, Counter()), target.context.revision),
        )
        return cell if trace is None else self._keep(cell, trace)


def _until_stopped(work: Callable[[], None]) -> None:
    try:
        work()
    except StopSearch:
        pass
