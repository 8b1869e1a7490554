"""What changed from one stored run to another: by scenario and place, and by check."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from enum import StrEnum
from typing import Final

from msgspec import Struct

from assay.lab.harness.golden.frame_difference import FrameDifference
from assay.lab.harness.verdict import CheckResult, Finding, Outcome, Verdict

from .run import CellResult, Run

Place = tuple[str, str, str]
"""Scenario, transport and revision."""
Explain = Callable[[CellResult, CellResult], FrameDifference | None]
"""Finds the first frame in which two recordings of a scenario part."""

NONE: Final = "none"


class Trend(StrEnum):
    """In the order in which people want to read them."""

    WORSE = "worse"
    FLAKY = "flaky"
    """It came out differently among the attempts of one run: that is no change between two."""
    BETTER = "better"
    NEW = "new"
    GONE = "gone"


# The higher, the better. What does not apply proves less than what passed, and is no fault.
OUTCOMES: Final[Mapping[Outcome, int]] = {
    Outcome.FAILED: 0,
    Outcome.INCOMPLETE: 1,
    Outcome.NOT_APPLICABLE: 2,
    Outcome.WARNED: 3,
    Outcome.PASSED: 4,
}
# A check that saw nothing is no worse than one that saw all well: the outcome tells if none saw anything.
VERDICTS: Final[Mapping[Verdict, int]] = {Verdict.FAILURE: 0, Verdict.WARNING: 1}
FINE: Final = 2


class CheckChange(Struct, frozen=True, omit_defaults=True):
    check: str
    title: str
    before: str
    after: str
    finding: Finding | None = None
    """What is found now; where nothing is, what was found before."""


class CellChange(Struct, frozen=True, omit_defaults=True):
    trend: Trend
    scenario: str
    transport: str
    revision: str
    before: str
    """Outcomes: of all attempts, where they differ."""
    after: str
    reason: str = ""
    checks: list[CheckChange] = []
    frame: FrameDifference | None = None


class Difference(Struct, frozen=True):
    cells: list[CellChange]
    same: int
    """Cells that came out alike in both runs."""

    @property
    def counts(self) -> dict[Trend, int]:
        return {trend: sum(cell.trend is trend for cell in self.cells) for trend in Trend}

    @property
    def is_worse(self) -> bool:
        return any(cell.trend is Trend.WORSE for cell in self.cells)


def difference(before: Run, after: Run, explain: Explain | None = None) -> Difference:
    olds, news = _attempts(before), _attempts(after)
    places = list(dict.fromkeys((*olds, *news)))
    changes = [_change(place, olds.get(place, []), news.get(place, []), explain) for place in places]
    found = [change for change in changes if change is not None]
    order = list(Trend)
    return Difference(sorted(found, key=lambda one: order.index(one.trend)), len(places) - len(found))


def _attempts(run: Run) -> dict[Place, list[CellResult]]:
    found: dict[Place, list[CellResult]] = defaultdict(list)
    for cell in run.cells:
        found[cell.scenario, cell.transport, cell.revision].append(cell)
    return found


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
    return len({(one.outcome, tuple(_verdicts(one).items())) for one in attempts}) > 1


def _verdicts(cell: CellResult) -> dict[str, int]:
    return {check.id: rank(check) for check in cell.checks}


def rank(check: CheckResult | None) -> int:
    return FINE if check is None else VERDICTS.get(check.verdict, FINE)


def _steps(old: CellResult, new: CellResult) -> Iterator[int]:
    """How the outcome and each check moved: down, up or not."""
    yield OUTCOMES[new.outcome] - OUTCOMES[old.outcome]
    yield from (step(before, after) for before, after in _pairs(old, new))


def step(before: CheckResult | None, after: CheckResult | None) -> int:
    """With the same verdict, a check that finds another requirement broken is worse."""
    moved = rank(after) - rank(before)
    if moved:
        return moved
    old, new = _rows(before), _rows(after)
    return -1 if new - old else len(old - new)


def _pairs(old: CellResult, new: CellResult) -> Iterator[tuple[CheckResult | None, CheckResult | None]]:
    before = {check.id: check for check in old.checks}
    after = {check.id: check for check in new.checks}
    return ((before.get(name), after.get(name)) for name in dict.fromkeys((*before, *after)))


def _rows(check: CheckResult | None) -> set[str]:
    return set() if check is None else {finding.requirement for finding in check.findings}


def _checks(old: CellResult, new: CellResult) -> Iterator[CheckChange]:
    for before, after in _pairs(old, new):
        shown = after or before
        if shown is not None and step(before, after):
            yield CheckChange(
                check=shown.id,
                title=shown.title,
                before=_verdict(before),
                after=_verdict(after),
                finding=_telling(before, after),
            )


def _verdict(check: CheckResult | None) -> str:
    return NONE if check is None else str(check.verdict)


def _telling(before: CheckResult | None, after: CheckResult | None) -> Finding | None:
    """The finding that explains a change: one that was not there before, else what there is."""
    known = _rows(before)
    found = [] if after is None else after.findings
    fresh = [one for one in found if one.requirement not in known]
    earlier = [] if before is None else before.findings
    return next(iter((*fresh, *found, *earlier)), None)
