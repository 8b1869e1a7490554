"""The difference between two stored runs, by place and by check."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from enum import StrEnum
from typing import Final

from msgspec import Struct

from assay.lab.harness.golden.frame_difference import FrameDifference
from assay.lab.harness.verdict import CheckResult, Finding, Outcome, Verdict

from .run import CellResult, Place, Run

Explain = Callable[[CellResult, CellResult], FrameDifference | None]
"""Finds the first frame in which two recordings of a scenario differ."""

NONE: Final = "none"


class Trend(StrEnum):
    """In the order of display."""

    WORSE = "worse"
    FLAKY = "flaky"
    """The attempts of one run have different outcomes, so the two runs cannot be compared."""
    BETTER = "better"
    NEW = "new"
    GONE = "gone"


# The higher, the better. A scenario that does not apply proves less than one that passed, and is not a fault.
OUTCOMES: Final[Mapping[Outcome, int]] = {
    Outcome.FAILED: 0,
    Outcome.INCOMPLETE: 1,
    Outcome.NOT_APPLICABLE: 2,
    Outcome.WARNED: 3,
    Outcome.PASSED: 4,
}
# A check without observations is not worse than a success: the outcome shows whether anything was observed.
VERDICTS: Final[Mapping[Verdict, int]] = {Verdict.FAILURE: 0, Verdict.WARNING: 1}
FINE: Final = 2


class CheckChange(Struct, frozen=True, omit_defaults=True):
    check: str
    title: str
    before: str
    after: str
    finding: Finding | None = None
    """A finding of the new run, else of the old one."""


class CellChange(Struct, frozen=True, omit_defaults=True):
    trend: Trend
    scenario: str
    transport: str
    revision: str
    before: str
    """Outcome; several if the attempts differ."""
    after: str
    reason: str = ""
    checks: list[CheckChange] = []
    frame: FrameDifference | None = None


class Difference(Struct, frozen=True):
    cells: list[CellChange]
    same: int
    """Number of cells with the same result in both runs."""

    @property
    def counts(self) -> dict[Trend, int]:
        return {trend: sum(cell.trend is trend for cell in self.cells) for trend in Trend}

    @property
    def is_worse(self) -> bool:
        return any(cell.trend is Trend.WORSE for cell in self.cells)


def difference(before: Run, after: Run, explain: Explain | None = None) -> Difference:
    olds, news = _attempts(before), _attempts(after)
    places = list(dict.fromkeys((*olds, *news)))
    compared = [_change(place, olds.get(place, []), news.get(place, []), explain) for place in places]
    changes = [change for change in compared if change is not None]
    order = list(Trend)
    changes.sort(key=lambda change: order.index(change.trend))
    return Difference(changes, len(places) - len(changes))


def _attempts(run: Run) -> dict[Place, list[CellResult]]:
    by_place: dict[Place, list[CellResult]] = defaultdict(list)
    for cell in run.cells:
        by_place[cell.place].append(cell)
    return by_place


def _change(
    place: Place, olds: list[CellResult], news: list[CellResult], explain: Explain | None
) -> CellChange | None:
    trend = _kind(olds, news)
    if trend is None:
        return None
    both = bool(olds and news) and trend is not Trend.FLAKY
    return CellChange(
        trend,
        *place,
        before=_outcomes(olds),
        after=_outcomes(news),
        reason=news[0].reason if news else "",
        checks=list(_checks(olds[0], news[0])) if both else [],
        frame=explain(olds[0], news[0]) if both and explain is not None else None,
    )


def _outcomes(cells: list[CellResult]) -> str:
    return " or ".join(dict.fromkeys(str(cell.outcome) for cell in cells)) or NONE


def _kind(olds: list[CellResult], news: list[CellResult]) -> Trend | None:
    if not olds or not news:
        return Trend.GONE if olds else Trend.NEW
    if _differ(olds) or _differ(news):
        return Trend.FLAKY
    steps = [*_steps(olds[0], news[0])]
    if any(step < 0 for step in steps):
        return Trend.WORSE
    return Trend.BETTER if any(step > 0 for step in steps) else None


def _differ(attempts: list[CellResult]) -> bool:
    return len({(cell.outcome, tuple(_verdicts(cell).items())) for cell in attempts}) > 1


def _verdicts(cell: CellResult) -> dict[str, int]:
    return {check.id: rank(check) for check in cell.checks}


def rank(check: CheckResult | None) -> int:
    return FINE if check is None else VERDICTS.get(check.verdict, FINE)


def _steps(old: CellResult, new: CellResult) -> Iterator[int]:
    """The changes of the outcome and of each check: negative for worse, positive for better."""
    yield OUTCOMES[new.outcome] - OUTCOMES[old.outcome]
    yield from (step(before, after) for before, after in _pairs(old, new))


def step(before: CheckResult | None, after: CheckResult | None) -> int:
    """With the same verdict, a check that finds another requirement broken is worse."""
    change = rank(after) - rank(before)
    if change:
        return change
    old, new = _broken(before), _broken(after)
    return -1 if new - old else len(old - new)


def _pairs(old: CellResult, new: CellResult) -> Iterator[tuple[CheckResult | None, CheckResult | None]]:
    before = {check.id: check for check in old.checks}
    after = {check.id: check for check in new.checks}
    return ((before.get(name), after.get(name)) for name in dict.fromkeys((*before, *after)))


def _broken(check: CheckResult | None) -> set[str]:
    return set() if check is None else {finding.requirement for finding in check.findings}


def _checks(old: CellResult, new: CellResult) -> Iterator[CheckChange]:
    for before, after in _pairs(old, new):
        check = after or before
        if check is not None and step(before, after):
            yield CheckChange(
                check=check.id,
                title=check.title,
                before=_verdict(before),
                after=_verdict(after),
                finding=_explanation(before, after),
            )


def _verdict(check: CheckResult | None) -> str:
    return NONE if check is None else str(check.verdict)


def _explanation(before: CheckResult | None, after: CheckResult | None) -> Finding | None:
    """The finding that explains a change: a new one if possible."""
    known = _broken(before)
    current = [] if after is None else after.findings
    new = [finding for finding in current if finding.requirement not in known]
    earlier = [] if before is None else before.findings
    return next(iter((*new, *current, *earlier)), None)
