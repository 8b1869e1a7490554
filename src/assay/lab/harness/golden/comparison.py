"""Comparison of a run with a golden run: differences in verdicts and in canonical frames."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from msgspec import Struct

from assay.lab.harness.naming import dashed
from assay.lab.harness.run.run import CellResult, Run
from assay.lab.harness.trace.file import read_trace

from .canonical import Canonical, canonical
from .frame_difference import FrameDifference, frame_differences
from .golden import Golden, GoldenCell, Place, place_of, summary_of

NOTHING: Final = "nothing"


class VerdictDifference(Struct, frozen=True):
    name: str
    """`outcome`, or the id of a check."""
    golden: str
    now: str


class CellDifference(Struct, frozen=True):
    place: Place
    attempt: int
    verdicts: list[VerdictDifference]
    frames: list[FrameDifference]
    golden_trace: str
    trace: str
    """The files of the golden and the current trace."""


class Comparison(Struct, frozen=True):
    compared: int
    cells: list[CellDifference]
    missing: list[Place]
    """Cells of the golden run that the current run does not have."""
    extra: list[Place]
    applied: Counter[str]
    """How often each normaliser applied."""
    unselected: int = 0
    """Cells of the golden run that were not selected for the current run."""

    @property
    def differs(self) -> bool:
        return bool(self.cells or self.missing or self.extra)


def compare_with_golden(golden: Golden, run: Run, home: Path) -> Comparison:
    """The paths of the run's traces are relative to `home`.

    Raises:
        BadGolden: a golden trace was changed after it was recorded.
    """
    applied: Counter[str] = Counter()
    known = [cell for cell in run.cells if place_of(cell) in golden.cells]
    places = {place_of(cell) for cell in run.cells}
    compared = [_compare(golden, cell, home, applied) for cell in known]
    return Comparison(
        compared=len(known),
        cells=[difference for difference in compared if difference.verdicts or difference.frames],
        missing=[place for place in golden.cells if place not in places],
        extra=sorted(places - golden.cells.keys()),
        applied=applied,
    )


def _compare(golden: Golden, cell: CellResult, home: Path, applied: Counter[str]) -> CellDifference:
    place = place_of(cell)
    before = golden.trace(place)
    after = canonical(read_trace(home / cell.trace), golden.rules.values) if cell.trace else None
    if after is not None:
        applied.update(after.applied)
    stored = golden.cells[place]
    return CellDifference(
        place=place,
        attempt=cell.attempt,
        verdicts=list(verdict_differences(stored, summary_of(cell))),
        frames=_frames(before, after, applied),
        golden_trace=f"{dashed(place[0])}/{stored.trace}" if stored.trace else "",
        trace=cell.trace,
    )


def _frames(
    before: Canonical | None, after: Canonical | None, applied: Counter[str]
) -> list[FrameDifference]:
    """Empty if a cell has no trace: its outcome differs then."""
    return [] if before is None or after is None else list(frame_differences(before, after, applied))


def verdict_differences(golden: GoldenCell, now: GoldenCell) -> Iterator[VerdictDifference]:
    if golden.outcome != now.outcome:
        yield VerdictDifference("outcome", golden.outcome, now.outcome)
    before, after = _by_check(golden), _by_check(now)
    for check in sorted(before.keys() | after.keys()):
        if before.get(check) != after.get(check):
            yield VerdictDifference(check, before.get(check, NOTHING), after.get(check, NOTHING))


def _by_check(cell: GoldenCell) -> dict[str, str]:
    """The verdict of each check, with the requirements that it reports as broken."""
    verdicts = {check: verdict for verdict, checks in cell.checks.items() for check in checks}
    return {check: " ".join((verdict, *cell.broken.get(check, ()))) for check, verdict in verdicts.items()}
