"""What a report says beside findings: the same lines in every format."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.harness.verdict import Outcome

from .call_remarks import call_remarks
from .defect import listed
from .run import Run


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
    """Scenarios that proved nothing, each once, with the reason and where."""
    reasons: dict[tuple[Outcome, str, str], dict[str, list[str]]] = {}
    for cell in run.cells:
        if cell.reason or cell.outcome in (Outcome.INCOMPLETE, Outcome.NOT_APPLICABLE):
            places = reasons.setdefault((cell.outcome, cell.scenario, cell.reason), {})
            places.setdefault(cell.transport, []).append(cell.revision)
    for (outcome, scenario, reason), transports in reasons.items():
        where = listed([f"{name} {', '.join(dates)}" for name, dates in transports.items()])
        yield f"{outcome}: {scenario} ({where}): {reason}"
