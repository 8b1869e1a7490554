"""The top of the page: the conclusion, the matrix, and each broken rule once."""

from __future__ import annotations

from collections import Counter
from urllib.parse import urlencode

from msgspec import Struct

from assay.lab.harness.run.account import Row, account
from assay.lab.harness.run.conclusion import outcomes
from assay.lab.harness.run.defect import Defect, defects
from assay.lab.harness.run.history import summary
from assay.lab.harness.run.run import EarlierRun, Run
from assay.lab.harness.verdict import CheckResult, Finding, Outcome, Verdict

from .entries import area, keys

MOST = 100
"""Broken rules at the top; more are only in the list below."""
GOOD = frozenset({Outcome.PASSED, Outcome.WARNED})


class Part(Struct, frozen=True):
    """A segment of a bar, in percent."""

    outcome: str
    count: int
    begin: float
    width: float

    @property
    def style(self) -> str:
        return style(self.outcome)


class Box(Struct, frozen=True):
    """Counts of a group of cells."""

    counts: dict[Outcome, int]
    link: str

    @property
    def applying(self) -> int:
        return sum(count for outcome, count in self.counts.items() if outcome is not Outcome.NOT_APPLICABLE)

    @property
    def good(self) -> int:
        return sum(self.counts.get(outcome, 0) for outcome in GOOD)

    @property
    def description(self) -> str:
        return ", ".join(f"{count} {outcome}" for outcome, count in self.counts.items())

    @property
    def notes(self) -> list[tuple[str, str]]:
        """Counts of other outcomes than passed, each with its style."""
        words = {Outcome.FAILED: "failed", Outcome.INCOMPLETE: "incomplete", Outcome.WARNED: "warned"}
        return [
            (style(outcome), f"{self.counts[outcome]} {word}")
            for outcome, word in words.items()
            if outcome in self.counts
        ]

    @property
    def parts(self) -> list[Part]:
        return parts(
            {
                outcome: count
                for outcome, count in self.counts.items()
                if outcome is not Outcome.NOT_APPLICABLE
            }
        )


class Matrix(Struct, frozen=True):
    revisions: list[tuple[str, Box]]
    rows: list[tuple[str, Box, list[Box | None]]]
    """Area, its total, and a box for each revision."""
    total: Box


class Broken(Struct, frozen=True):
    """A rule that a check found broken, with the first place."""

    title: str
    check: CheckResult
    finding: Finding
    verdict: Verdict
    places: int
    link: str
    expected: bool
    """Whether the baseline expects it."""
    consequences: list[str]
    """What follows from it, in one line each."""
    revisions: list[str]
    rows: list[Row]
    """The same as in the other reports."""


def style(word: str) -> str:
    """The CSS class of an outcome or verdict."""
    return word.lower().replace(" ", "-")


def parts(counts: dict[Outcome, int]) -> list[Part]:
    total = sum(counts.values())
    segments: list[Part] = []
    begin = 0.0
    for outcome, count in counts.items():
        width = 100 * count / total
        segments.append(Part(outcome, count, round(begin, 2), round(width, 2)))
        begin += width
    return segments


def link(**state: str) -> str:
    """A link to the page in this state."""
    return f"#{urlencode({key: value for key, value in state.items() if value}, safe='/')}"


def outcome_parts(run: Run) -> list[Part]:
    return parts(outcomes(run))


def matrix(run: Run) -> Matrix:
    revisions = sorted({cell.revision for cell in run.cells})
    areas = sorted({area(cell) for cell in run.cells})
    counts: dict[tuple[str, str], Counter[Outcome]] = {}
    for cell in run.cells:
        for key in ((area(cell), cell.revision), (area(cell), ""), ("", cell.revision), ("", "")):
            counts.setdefault(key, Counter())[cell.outcome] += 1

    def box(name: str, revision: str) -> Box | None:
        count = counts.get((name, revision))
        if count is None:
            return None
        ordered = {outcome: count[outcome] for outcome in Outcome if count[outcome]}
        return Box(ordered, link(area=name, revision=revision))

    empty = Box({}, "#")
    return Matrix(
        [(revision, box("", revision) or empty) for revision in revisions],
        [(name, box(name, "") or empty, [box(name, revision) for revision in revisions]) for name in areas],
        box("", "") or empty,
    )


def broken(run: Run) -> list[Broken]:
    """Each broken rule once: unexpected failures, unexpected warnings, then what the baseline expects."""
    key_of = {id(cell): key for key, cell in zip(keys(run), run.cells, strict=True)}
    return [_broken(defect, key_of) for defect in sorted(defects(run), key=lambda defect: defect.expected)]


def _broken(defect: Defect, key_of: dict[int, str]) -> Broken:
    cell = defect.cell
    return Broken(
        defect.title,
        defect.check,
        defect.finding,
        defect.verdict,
        places=len({id(occurrence.cell) for occurrence in defect.occurrences}),
        link=link(run=key_of[id(cell)], check=defect.check.id),
        expected=defect.expected,
        consequences=[consequence.summary for consequence in defect.consequences],
        revisions=defect.revisions,
        rows=account(defect),
    )


class Column(Struct, frozen=True):
    """One run in the trend, with the heights of its parts in percent of the highest."""

    run: EarlierRun
    failures: float
    warnings: float
    place: int

    @property
    def date(self) -> str:
        return self.run.started[:16].replace("T", " ")


def trend(run: Run) -> list[Column]:
    """Broken rules in earlier runs and this one; nothing if it is the first."""
    if not run.earlier:
        return []
    every = [*run.earlier, summary(run)]
    highest = max(1, *(each.failures + each.warnings for each in every))
    return [
        Column(each, 100 * each.failures / highest, 100 * each.warnings / highest, place)
        for place, each in enumerate(every)
    ]
