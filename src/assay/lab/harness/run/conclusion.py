"""The conclusion of a run: one rule for all commands and reports."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from enum import Enum
from typing import Final

from assay.lab.harness.reason import Reason, ReasonKind
from assay.lab.harness.verdict import CheckResult, Outcome, Verdict

from .baseline import is_expected
from .run import CellResult, Run

UNOBSERVED: Final = Reason(ReasonKind.NOT_OBSERVED, "nothing that it looks for was observed")


class Conclusion(Enum):
    CONFORMS = "conforms"
    DOES_NOT_CONFORM = "does not conform"
    INCOMPLETE = "incomplete"
    INTERRUPTED = "interrupted"


def conclude(run: Run) -> Conclusion:
    """Failures decide; without any, an unfinished scenario makes the run incomplete."""
    if run.interrupted:
        return Conclusion.INTERRUPTED
    if run.expired:
        return Conclusion.INCOMPLETE  # entries of a baseline that were not reached are not stale
    if run.stale or any(counts(run, check.verdict) for cell, check in unexpected(run)):
        return Conclusion.DOES_NOT_CONFORM
    proved = any(cell.outcome in (Outcome.PASSED, Outcome.WARNED, Outcome.FAILED) for cell in run.cells)
    # A subject may lack what a scenario looks for.
    unfinished = any(cell.broke_off for cell in run.cells)
    return Conclusion.INCOMPLETE if unfinished or not proved else Conclusion.CONFORMS


def outcome_of(sought: Sequence[str], checks: Sequence[CheckResult], *, broke_off: bool) -> Outcome:
    """A failure of any check counts; a success only of a check that the scenario exercises. A check whose
    findings follow from others has observed something, too."""
    verdicts = {check.verdict for check in checks}
    exercised = {check.verdict for check in checks if check.id in sought}
    if Verdict.FAILURE in verdicts:
        return Outcome.FAILED
    if broke_off or not exercised & {Verdict.SUCCESS, Verdict.WARNING, Verdict.INFO}:
        return Outcome.INCOMPLETE
    return Outcome.WARNED if Verdict.WARNING in verdicts else Outcome.PASSED


def counts(run: Run, verdict: Verdict) -> bool:
    """Whether a verdict counts against the subject in this run."""
    return verdict is Verdict.FAILURE or (run.strict and verdict is Verdict.WARNING)


def unexpected(run: Run) -> Iterator[tuple[CellResult, CheckResult]]:
    """All checks that the baseline does not list."""
    return ((cell, check) for cell in run.cells for check in cell.checks if not is_expected(run, cell, check))


def outcomes(run: Run) -> dict[Outcome, int]:
    """Number of cells by outcome, in the order of the enumeration."""
    counter = Counter(cell.outcome for cell in run.cells)
    return {outcome: counter[outcome] for outcome in Outcome if counter[outcome]}


def headline(run: Run) -> str:
    """The run in one line."""
    parts = [f"{count} {outcome}" for outcome, count in outcomes(run).items()]
    parts += [f"{len(run.expected)} expected by the baseline"] if run.expected else []
    parts += [f"{len(run.stale)} stale in the baseline"] if run.stale else []
    return f"{conclude(run).value}: {', '.join(parts) or run.problem or 'nothing was judged'}"
