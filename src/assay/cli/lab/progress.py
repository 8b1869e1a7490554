"""What is shown while a run is going on: a live line on a terminal, plain lines elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import IO

from assay.lab.harness.event import CellFinished, CellsPlanned, RunEvent, SubjectKnown, Watch
from assay.lab.harness.run import CellResult, SubjectRecord
from assay.lab.harness.verdict import Outcome

MARKS = {
    Outcome.PASSED: "ok",
    Outcome.WARNED: "warned",
    Outcome.FAILED: "FAILED",
    Outcome.INCOMPLETE: "incomplete",
    Outcome.NOT_APPLICABLE: "n/a",
}


@contextmanager
def progress(stream: IO[str]) -> Iterator[Watch]:
    if stream.isatty():
        with _live(stream) as watch:
            yield watch
    else:
        yield _plain(stream)


def known(record: SubjectRecord) -> str:
    spoken = ", ".join(facts.revision for facts in record.facts) or "no revision"
    return f"{record.transport}: {record.name} speaks {spoken}"


def line_of(result: CellResult) -> str:
    place = f"{result.transport} {result.revision}"
    reason = f": {result.reason.splitlines()[0]}" if result.reason else ""
    return f"{MARKS[result.outcome]:<11}{place:<18}{result.scenario}{reason}"


def _plain(stream: IO[str]) -> Watch:
    def watch(event: RunEvent) -> None:
        match event:
            case SubjectKnown(record):
                print(known(record), file=stream)
            case CellFinished(result):
                print(line_of(result), file=stream)

    return watch


@contextmanager
def _live(stream: IO[str]) -> Iterator[Watch]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(file=stream), transient=True) as bar:
        yield _bar_watch(bar.add_task, bar.update, bar.console.print)


def _bar_watch(add: Callable[..., int], update: Callable[..., None], say: Callable[..., None]) -> Watch:
    """Only what is not green stays on the screen."""
    tasks: list[int] = []

    def watch(event: RunEvent) -> None:
        match event:
            case SubjectKnown(record):
                say(known(record), markup=False, highlight=False)
            case CellsPlanned(count):
                tasks.append(add("scenarios", total=count))
            case CellFinished(result):
                update(tasks[0], advance=1, description=result.scenario)
                if result.outcome in (Outcome.FAILED, Outcome.INCOMPLETE):
                    say(line_of(result), markup=False, highlight=False)

    return watch
