"""What a whole run comes to: one rule, for every command and report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from enum import Enum

from assay.lab.harness.scenario import Role
from assay.lab.harness.verdict import CheckResult, Outcome, Verdict

from .baseline import is_expected
from .run import CellResult, Run


class Conclusion(Enum):
    CONFORMS = "conforms"
    DOES_NOT_CONFORM = "does not conform"
    INCOMPLETE = "incomplete"
    INTERRUPTED = "interrupted"


def conclude(run: Run) -> Conclusion:
    """A failure decides; without one, whatever was not carried to its end keeps the run from being green."""
    if run.interrupted:
        return Conclusion.INTERRUPTED
    if run.stale or any(counts(run, check.verdict) for cell, check in unexpected(run)):
        return Conclusion.DOES_NOT_CONFORM
    proved = any(cell.outcome in (Outcome.PASSED, Outcome.WARNED, Outcome.FAILED) for cell in run.cells)
    unfinished = any(_is_unfinished(run, cell) for cell in run.cells)
    return Conclusion.INCOMPLETE if unfinished or not proved else Conclusion.CONFORMS


def _is_unfinished(run: Run, cell: CellResult) -> bool:
    """A server need not have what a scenario looks for; a client was asked to do it."""
    return cell.broke_off or (run.role == Role.CLIENT.value and cell.outcome is Outcome.INCOMPLETE)


def counts(run: Run, verdict: Verdict) -> bool:
    """Whether a verdict is held against the subject in this run."""
    return verdict is Verdict.FAILURE or (run.strict and verdict is Verdict.WARNING)


def unexpected(run: Run) -> Iterator[tuple[CellResult, CheckResult]]:
    """Every check that the baseline does not excuse."""
    return ((cell, check) for cell in run.cells for check in cell.checks if not is_expected(run, cell, check))


def outcomes(run: Run) -> dict[Outcome, int]:
    """How many cells ended how, in the order of the enumeration."""
    found = Counter(cell.outcome for cell in run.cells)
    return {outcome: found[outcome] for outcome in Outcome if found[outcome]}


def headline(run: Run) -> str:
    """The run in one line."""
    parts = [f"{count} {outcome}" for outcome, count in outcomes(run).items()]
    parts += [f"{len(run.expected)} expected by the baseline"] if run.expected else []
    parts += [f"{len(run.stale)} stale in the baseline"] if run.stale else []
    return f"{conclude(run).value}: {', '.join(parts) or run.problem or 'nothing was judged'}"
