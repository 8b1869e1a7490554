"""Plain text for terminals and logs: findings in full, everything else in lines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from assay.lab.harness.run.conclusion import headline
from assay.lab.harness.run.defect import NAMED, Defect, defects, listed
from assay.lab.harness.run.run import Run
from assay.lab.harness.verdict import Outcome, Verdict

WIDTH: Final = 200


def render(run: Run) -> str:
    return "\n".join((*_subjects(run), *_findings(run), *_cells(run), *_end(run))) + "\n"


def _subjects(run: Run) -> Iterator[str]:
    for subject in run.subjects:
        revisions = ", ".join(facts.revision for facts in subject.facts)
        # Discovery is not part of a run that judges stored traces.
        supports = f": supports {revisions or 'no revision'}" if subject.facts or subject.refused else ""
        yield f"{subject.name} on {subject.transport}{supports}"
        for refusal in subject.refused:
            yield f"  not {refusal.revision}: {refusal.reason}"


def _findings(run: Run) -> Iterator[str]:
    for defect in defects(run):
        yield ""
        yield from _finding(defect)


def _finding(defect: Defect) -> Iterator[str]:
    finding = defect.finding
    baseline = " (expected by the baseline)" if defect.expected else ""
    yield f"{defect.verdict} {defect.check.id}: {defect.title}{baseline}"
    yield f"  {finding.requirement} ({finding.level}): {finding.statement}"
    yield f"  {finding.link}"
    yield f"  expected  {finding.expected}"
    yield f"  observed  {finding.observed}"
    others = defect.also_observed
    yield from (f"  also      {_line(observed)}" for observed in others[:NAMED])
    if len(others) > NAMED:
        yield f"  also      {len(others) - NAMED} more"
    yield from (f"  {line}" for line in finding.excerpt)
    if finding.reproduce:
        yield f"  reproduce {finding.reproduce}"
    yield f"  in        {listed(defect.places)}"
    yield from (f"  follows   {consequence.summary}" for consequence in defect.consequences)
    if defect.cell.trace:
        yield f"  trace     {defect.cell.trace}"


def _line(text: str) -> str:
    return " ".join(text.split())[:WIDTH]


def _cells(run: Run) -> Iterator[str]:
    yield ""
    reasons: dict[tuple[Outcome, str, str], list[str]] = {}
    for cell in run.cells:
        if cell.reason or cell.outcome in (Outcome.INCOMPLETE, Outcome.NOT_APPLICABLE):
            place = f"{cell.transport} {cell.revision}"
            reasons.setdefault((cell.outcome, cell.scenario, cell.reason), []).append(place)
    for (outcome, scenario, reason), places in reasons.items():
        yield f"{outcome}: {scenario} ({listed(places)}): {reason}"
    for scenario, transport, revision in run.flaky:
        yield f"flaky: {scenario} ({transport}, {revision}) had different outcomes when repeated"
    yield from (f"stale in the baseline: {entry}" for entry in run.stale)


def _end(run: Run) -> Iterator[str]:
    checks = [check for cell in run.cells for check in cell.checks]
    numbers = {verdict: sum(check.verdict is verdict for check in checks) for verdict in Verdict}
    counts = ", ".join(f"{number} {verdict}" for verdict, number in numbers.items() if number)
    yield f"{len(run.cells)} scenario runs, {len(checks)} checks: {counts or 'none'}"
    yield f"{headline(run)} ({run.seconds:.1f} s)"
