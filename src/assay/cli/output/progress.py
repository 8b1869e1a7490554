"""Progress of a run: a live bar on a terminal, plain lines elsewhere."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, Final

from assay.lab.harness.run.event import (
    CellFinished,
    CellsPlanned,
    RunEvent,
    RunFinished,
    SubjectKnown,
    Watch,
)
from assay.lab.harness.run.run import CellResult, SubjectRecord
from assay.lab.harness.scenario import Role
from assay.lab.harness.verdict import Outcome
from assay.model.visible import visible

from .stream import say

if TYPE_CHECKING:
    from rich.progress import Progress

MARKS: Final = {
    Outcome.PASSED: "ok",
    Outcome.WARNED: "warned",
    Outcome.FAILED: "FAILED",
    Outcome.INCOMPLETE: "incomplete",
    Outcome.NOT_APPLICABLE: "n/a",
}
OPENINGS: Final = {Role.SERVER: "discovering the server", Role.CLIENT: "waiting for the client"}
NAMED: Final = 2
"""Places that are named one by one; more are counted by transport."""


@contextmanager
def progress(stream: IO[str], role: Role = Role.SERVER) -> Iterator[Watch]:
    if stream.isatty():
        with _live(stream, OPENINGS[role]) as watch:
            yield watch
    else:
        yield Plain(stream).watch


def greeting(record: SubjectRecord) -> str:
    spoken = ", ".join(facts.revision for facts in record.facts) or "no revision"
    return f"{record.transport}: {record.name} speaks {spoken}"


def lines_of(results: Sequence[CellResult]) -> Iterator[str]:
    """A line for each outcome of a scenario, with the places where it occurred."""
    alike: dict[tuple[Outcome, str], list[CellResult]] = {}
    for result in results:
        alike.setdefault((result.outcome, result.reason.partition("\n")[0]), []).append(result)
    for (outcome, reason), cells in alike.items():
        why = f": {reason}" if reason else ""
        yield f"{MARKS[outcome]:<11}{cells[0].scenario} ({_places(cells)}){why}"


def _places(results: Sequence[CellResult]) -> str:
    if len(results) <= NAMED:
        return ", ".join(f"{result.transport} {result.revision}" for result in results)
    counted = Counter(result.transport for result in results)
    return ", ".join(f"{transport} {count}" for transport, count in counted.items())


class Plain:
    """A line for each scenario, once all its cells are known. They arrive in the order of the plan."""

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream
        self._held: list[CellResult] = []

    def watch(self, event: RunEvent) -> None:
        match event:
            case SubjectKnown(record):
                self._say(greeting(record))
            case CellFinished(result):
                if self._held and self._held[0].scenario != result.scenario:
                    self._flush()
                self._held.append(result)
            case RunFinished():
                self._flush()

    def _flush(self) -> None:
        for line in lines_of(self._held):
            self._say(line)
        self._held = []

    def _say(self, line: str) -> None:
        say(line, self._stream)


@contextmanager
def _live(stream: IO[str], opening: str) -> Iterator[Watch]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[bad]}", style="red", markup=False),
        TextColumn("{task.description}", markup=False),
    )
    with Progress(*columns, console=Console(file=stream), transient=True) as bar:
        yield Live(bar, opening).watch


class Live:
    """A bar. Only failures stay on the screen above it."""

    def __init__(self, bar: Progress, opening: str) -> None:
        self._bar = bar
        self._task = bar.add_task(opening, total=None, bad="")
        self._bad: Counter[Outcome] = Counter()

    def watch(self, event: RunEvent) -> None:
        match event:
            case SubjectKnown(record):
                self._say(greeting(record))
            case CellsPlanned(count):
                self._bar.update(self._task, total=count)
            case CellFinished(result):
                self._take(result)

    def _take(self, result: CellResult) -> None:
        if result.outcome in (Outcome.FAILED, Outcome.INCOMPLETE):
            self._bad[result.outcome] += 1
            for line in lines_of([result]):
                self._say(line)
        bad = ", ".join(f"{count} {outcome}" for outcome, count in self._bad.items())
        self._bar.update(self._task, advance=1, description=visible(result.scenario), bad=bad)

    def _say(self, line: str) -> None:
        self._bar.console.print(visible(line), markup=False, highlight=False, soft_wrap=True)
