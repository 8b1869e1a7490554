"""What stands at the top of the page: the conclusion, the matrix, and every broken rule once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from urllib.parse import urlencode

from msgspec import Struct

from assay.lab.harness.requirement import Level
from assay.lab.harness.run.baseline import is_expected
from assay.lab.harness.run.conclusion import outcomes
from assay.lab.harness.run.run import CellResult, Run
from assay.lab.harness.verdict import CheckResult, Finding, Outcome, Verdict

from .entries import area, keys

MOST = 100
"""Broken rules at the top; more than that, and the list below is the better place."""
LONGEST = 600
GOOD = frozenset({Outcome.PASSED, Outcome.WARNED})


class Part(Struct, frozen=True):
    """A stretch of a bar, in hundredths of it."""

    outcome: str
    count: int
    begin: float
    width: float

    @property
    def style(self) -> str:
        return style(self.outcome)


class Box(Struct, frozen=True):
    """Some of the cells, counted."""

    counts: dict[Outcome, int]
    link: str

    @property
    def applying(self) -> int:
        return sum(count for outcome, count in self.counts.items() if outcome is not Outcome.NOT_APPLICABLE)

    @property
    def good(self) -> int:
        return sum(self.counts.get(outcome, 0) for outcome in GOOD)

    @property
    def told(self) -> str:
        return ", ".join(f"{count} {outcome}" for outcome, count in self.counts.items())

    @property
    def notes(self) -> list[tuple[str, str]]:
        """What is not simply good, each with its style."""
        words = {Outcome.FAILED: "failed", Outcome.INCOMPLETE: "incomplete", Outcome.WARNED: "warned"}
        return [
            (style(one), f"{self.counts[one]} {word}") for one, word in words.items() if one in self.counts
        ]

    @property
    def parts(self) -> list[Part]:
        shown = {outcome: count for outcome, count in self.counts.items() if outcome in SHOWN}
        return parts(shown)


SHOWN = (Outcome.PASSED, Outcome.WARNED, Outcome.FAILED, Outcome.INCOMPLETE)


class Matrix(Struct, frozen=True):
    revisions: list[tuple[str, Box]]
    rows: list[tuple[str, Box, list[Box | None]]]
    """Area, all of it, and a box for each revision."""
    total: Box


class Broken(Struct, frozen=True):
    """A rule that a check found broken, with the first place where it was seen."""

    check: CheckResult
    finding: Finding
    place: str
    places: int
    link: str
    expected: bool
    """The baseline has it."""

    @property
    def verdict(self) -> Verdict:
        return Verdict.FAILURE if Level(self.finding.level).binding else Verdict.WARNING


def style(word: str) -> str:
    """The class of an outcome or a verdict: one word."""
    return word.lower().replace(" ", "-")


def parts(counts: dict[Outcome, int]) -> list[Part]:
    whole = sum(counts.values())
    made: list[Part] = []
    begin = 0.0
    for outcome, count in counts.items():
        width = 100 * count / whole
        made.append(Part(outcome, count, round(begin, 2), round(width, 2)))
        begin += width
    return made


def link(**state: str) -> str:
    """The page in that state."""
    return f"#{urlencode({key: value for key, value in state.items() if value}, safe='/')}"


def outcome_parts(run: Run) -> list[Part]:
    return parts(outcomes(run))


def matrix(run: Run) -> Matrix:
    revisions = sorted({cell.revision for cell in run.cells})
    areas = sorted({area(cell) for cell in run.cells})
    counted: dict[tuple[str, str], Counter[Outcome]] = {}
    for cell in run.cells:
        for key in ((area(cell), cell.revision), (area(cell), ""), ("", cell.revision), ("", "")):
            counted.setdefault(key, Counter())[cell.outcome] += 1

    def box(name: str, revision: str) -> Box | None:
        count = counted.get((name, revision))
        if count is None:
            return None
        ordered = {outcome: count[outcome] for outcome in Outcome if count[outcome]}
        return Box(ordered, link(area=name, revision=revision))

    nothing = Box({}, "#")
    return Matrix(
        [(revision, box("", revision) or nothing) for revision in revisions],
        [(name, box(name, "") or nothing, [box(name, one) for one in revisions]) for name in areas],
        box("", "") or nothing,
    )


def broken(run: Run) -> list[Broken]:
    """Each requirement that a check found broken once, failures first."""
    found: dict[tuple[str, str], list[tuple[str, CellResult, CheckResult, Finding]]] = {}
    for key, cell in zip(keys(run), run.cells, strict=True):
        for check in cell.checks:
            for finding in check.findings:
                found.setdefault((check.id, finding.requirement), []).append((key, cell, check, finding))
    made = (_broken(run, places) for places in found.values())
    return sorted(made, key=lambda one: (one.expected, one.verdict is not Verdict.FAILURE))


def _broken(run: Run, found: list[tuple[str, CellResult, CheckResult, Finding]]) -> Broken:
    key, cell, check, finding = found[0]
    places = len({place for place, *_ in found})
    at = f"{cell.scenario} on {cell.transport} at {cell.revision}"
    target = link(run=key, check=check.id)
    return Broken(check, finding, at, places, target, is_expected(run, cell, check))


def remarks(run: Run) -> Iterator[str]:
    if run.problem:
        yield run.problem
    if run.interrupted:
        yield "the run was interrupted: what is here was judged before that"
    yield from (f"stale in the baseline: {entry}" for entry in run.stale)
    for scenario, transport, revision in run.flaky:
        yield f"flaky: {scenario} ({transport}, {revision}) came out differently when repeated"
