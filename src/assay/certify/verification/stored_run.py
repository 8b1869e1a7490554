"""The stored run in a bundle: readable, and a trace behind each verdict."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Final

from assay.certify.bundle.bundle_manifest import moment
from assay.certify.bundle.layout import RUN, RUN_FOLDER
from assay.lab.harness.run.run import BadRun, CellResult, Run, parse_run
from assay.lab.harness.verdict import Outcome

from .case import SKEW, Case
from .refusal import Reason, Refusal, Refused, refused

TRACE_ENDING: Final = ".ndjson"
AT_ONCE: Final = timedelta(days=1)
"""A bundle is made when its run has ended: nobody gives a new date to an old one."""


def run(case: Case) -> str:
    """
    Raises:
        Refused: there is no run, or one that its traces do not stand behind.
    """
    stored = stored_run(case)
    refusals = [*_misdated(case, stored), *_unproved(case, stored), *_unnamed(case, stored)]
    if refusals:
        raise Refused(refusals)
    traces = sum(1 for cell in stored.cells if cell.trace)
    return f"{len(stored.cells)} scenario runs by version {stored.assay}, {traces} with a trace"


def stored_run(case: Case) -> Run:
    """
    Raises:
        Refused: there is none.
    """
    try:
        return parse_run(case.content(RUN), RUN)
    except BadRun as error:
        raise refused(Reason.BAD_EVIDENCE, RUN, error) from error


def trace_name(cell: CellResult) -> str:
    """The file of the bundle, which the run names from where it is."""
    return RUN_FOLDER + cell.trace


def _misdated(case: Case, stored: Run) -> Iterator[Refusal]:
    if stored.interrupted:
        yield Refusal(Reason.BAD_EVIDENCE, RUN, "it was interrupted, and of such a run no bundle is made")
    made = moment(case.listed.created)
    try:
        age = made - datetime.fromisoformat(stored.started)
    except (ValueError, TypeError) as error:
        yield Refusal(Reason.BAD_EVIDENCE, RUN, f"it began at no time: {error}")
        return
    if not -SKEW <= age <= AT_ONCE:
        detail = f"it began at {stored.started}, and the bundle was made at {case.listed.created}"
        yield Refusal(Reason.BAD_EVIDENCE, RUN, detail)


def _unproved(case: Case, stored: Run) -> Iterator[Refusal]:
    """Verdicts come from traces: one without a trace, or with another's, is made up."""
    seen: set[str] = set()
    for cell in stored.cells:
        about = f"{' '.join(cell.place)} (attempt {cell.attempt})"
        if not cell.trace:
            if cell.checks or cell.outcome is not Outcome.NOT_APPLICABLE:
                yield Refusal(Reason.MISSING_TRACE, RUN, f"{about} has verdicts, and no trace")
            continue
        name = trace_name(cell)
        if name not in case.entries:
            yield Refusal(
                Reason.MISSING_TRACE, RUN, f"{about} names {cell.trace}, which is not in the bundle"
            )
        elif name in seen:
            yield Refusal(Reason.BAD_EVIDENCE, RUN, f"{about} names {cell.trace}, as another does")
        seen.add(name)


def _unnamed(case: Case, stored: Run) -> Iterator[Refusal]:
    named = {trace_name(cell) for cell in stored.cells if cell.trace}
    for name in sorted(case.entries.keys() - named):
        if name.startswith(RUN_FOLDER) and name.endswith(TRACE_ENDING):
            yield Refusal(Reason.BAD_EVIDENCE, name, "a trace that the run says nothing of")
