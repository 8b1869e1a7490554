"""What a report says beside findings: the same lines in every format."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Final, TypeVar

from assay.lab.harness.verdict import Outcome

from .call_remarks import call_remarks
from .defect import listed
from .run import CellResult, Run

K = TypeVar("K")
_UNPROVED: Final = frozenset({Outcome.INCOMPLETE, Outcome.NOT_APPLICABLE})


def remarks(run: Run) -> Iterator[str]:
    """About the run as a whole."""
    if run.problem:
        yield run.problem
    if run.interrupted:
        yield "the run was interrupted: this report has the results up to that point"
    if run.expired:
        yield "the deadline of the run passed: this report has the results up to that point"
    for scenario, transport, revision in run.flaky:
        yield f"flaky: {scenario} ({transport}, {revision}) had different outcomes when repeated"
    yield from (f"stale in the baseline: {entry}" for entry in run.stale)
    yield from call_remarks(run)


def unproved(run: Run) -> Iterator[str]:
    """Scenarios that proved nothing: those with one reason at the same places share a line."""
    scenarios: dict[tuple[Outcome, str, str], list[str]] = {}
    for scenario, cells in _grouped(run.cells, lambda cell: cell.scenario).items():
        every = _places(cells)
        unproved = [cell for cell in cells if cell.reason or cell.outcome in _UNPROVED]
        for (outcome, reason), alike in _grouped(unproved, lambda cell: (cell.outcome, cell.reason)).items():
            scenarios.setdefault((outcome, reason, _where(_places(alike), every)), []).append(scenario)
    # What is incomplete comes last, next to the conclusion.
    for (outcome, reason, where), names in sorted(scenarios.items(), key=_is_incomplete):
        yield f"{outcome}: {', '.join(names)} ({where}): {reason}"


def _is_incomplete(group: tuple[tuple[Outcome, str, str], list[str]]) -> bool:
    return group[0][0] is Outcome.INCOMPLETE


def _grouped(cells: Iterable[CellResult], key: Callable[[CellResult], K]) -> dict[K, list[CellResult]]:
    groups: dict[K, list[CellResult]] = {}
    for cell in cells:
        groups.setdefault(key(cell), []).append(cell)
    return groups


def _places(cells: Iterable[CellResult]) -> dict[str, list[str]]:
    """Revisions by transport."""
    places: dict[str, list[str]] = {}
    for cell in cells:
        if cell.revision not in places.setdefault(cell.transport, []):
            places[cell.transport].append(cell.revision)
    return places


def _where(places: dict[str, list[str]], every: dict[str, list[str]]) -> str:
    """A transport without dates stands for all revisions at which the scenario was to run."""
    return listed(
        [
            name if set(dates) == set(every[name]) else f"{name} {', '.join(dates)}"
            for name, dates in places.items()
        ]
    )
