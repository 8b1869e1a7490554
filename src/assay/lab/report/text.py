"""For a terminal or a log: findings in full, everything else in lines."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.harness.requirement import Level
from assay.lab.harness.run.baseline import is_expected
from assay.lab.harness.run.conclusion import headline
from assay.lab.harness.run.run import CellResult, Run
from assay.lab.harness.verdict import CheckResult, Finding, Outcome, Verdict

SHOWN = 3
"""Places that are named for one finding that occurs in many."""
WIDTH = 200


def render(run: Run) -> str:
    return "\n".join((*_subjects(run), *_findings(run), *_cells(run), *_end(run))) + "\n"


def _subjects(run: Run) -> Iterator[str]:
    for subject in run.subjects:
        spoken = ", ".join(facts.revision for facts in subject.facts)
        # Traces that are judged again do not tell what else the subject speaks.
        speaks = f": speaks {spoken or 'none'}" if subject.facts or subject.refused else ""
        yield f"{subject.name} on {subject.transport}{speaks}"
        for refusal in subject.refused:
            yield f"  not {refusal.revision}: {refusal.reason}"


Place = tuple[CellResult, CheckResult, Finding]


def _findings(run: Run) -> Iterator[str]:
    """Each requirement that a check found broken once, failures first, with the places where it was seen."""
    places: dict[tuple[str, str], list[Place]] = {}
    for cell in run.cells:
        for check in cell.checks:
            for finding in check.findings:
                places.setdefault((check.id, finding.requirement), []).append((cell, check, finding))
    for found in sorted(places.values(), key=lambda found: not _is_binding(found[0])):
        yield ""
        yield from _finding(run, found)


def _is_binding(place: Place) -> bool:
    return Level(place[2].level).binding


def _finding(run: Run, found: list[Place]) -> Iterator[str]:
    cell, check, finding = found[0]
    known = " (expected by the baseline)" if is_expected(run, cell, check) else ""
    verdict = Verdict.FAILURE if _is_binding(found[0]) else Verdict.WARNING
    yield f"{verdict} {check.id}: {check.title}{known}"
    yield f"  {finding.requirement} ({finding.level}): {finding.statement}"
    yield f"  {finding.link}"
    yield f"  expected  {finding.expected}"
    yield f"  observed  {finding.observed}"
    others = list(
        dict.fromkeys(other.observed for _, _, other in found if other.observed != finding.observed)
    )
    yield from (f"  also      {_line(observed)}" for observed in others[:SHOWN])
    if len(others) > SHOWN:
        yield f"  also      {len(others) - SHOWN} more"
    yield from (f"  {line}" for line in finding.excerpt)
    if finding.reproduce:
        yield f"  again     {finding.reproduce}"
    at = dict.fromkeys(f"{cell.scenario} ({cell.transport}, {cell.revision})" for cell, _, _ in found)
    yield f"  in        {_named(list(at))}"
    if cell.trace:
        yield f"  trace     {cell.trace}"


def _named(places: list[str]) -> str:
    more = f" and {len(places) - SHOWN} more" if len(places) > SHOWN else ""
    return f"{', '.join(places[:SHOWN])}{more}"


def _line(text: str) -> str:
    return " ".join(text.split())[:WIDTH]


def _cells(run: Run) -> Iterator[str]:
    yield ""
    reasons: dict[tuple[Outcome, str, str], list[str]] = {}
    for cell in run.cells:
        if cell.reason or cell.outcome in (Outcome.INCOMPLETE, Outcome.NOT_APPLICABLE):
            place = f"{cell.transport} {cell.revision}"
            reasons.setdefault((cell.outcome, cell.scenario, cell.reason), []).append(place)
    for (outcome, scenario, reason), at in reasons.items():
        yield f"{outcome}: {scenario} ({_named(at)}): {reason}"
    for scenario, transport, revision in run.flaky:
        yield f"flaky: {scenario} ({transport}, {revision}) came out differently when repeated"
    yield from (f"stale in the baseline: {entry}" for entry in run.stale)


def _end(run: Run) -> Iterator[str]:
    checks = [check for cell in run.cells for check in cell.checks]
    count = {verdict: sum(check.verdict is verdict for check in checks) for verdict in Verdict}
    shown = ", ".join(f"{number} {verdict}" for verdict, number in count.items() if number)
    yield f"{len(run.cells)} scenario runs, {len(checks)} checks: {shown or 'none'}"
    yield f"{headline(run)} ({run.seconds:.1f} s)"
