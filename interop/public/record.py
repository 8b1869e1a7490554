"""The findings of each server or client, each once, with the stored trace that proves it."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import msgspec

from assay.lab.harness.catalogue import Suite
from assay.lab.harness.naming import dashed
from assay.lab.harness.requirement import Level
from assay.lab.harness.run.rejudge import rejudged
from assay.lab.harness.run.run import CellResult, Run
from assay.lab.harness.trace.file import read_trace
from assay.lab.harness.verdict import CheckResult, Finding, Verdict

Key = tuple[str, str]
"""Check and requirement, which identify a finding of a subject."""
Places = Mapping[Key, Sequence[CellResult]]


class RecordedFinding(msgspec.Struct, frozen=True):
    """A requirement that a subject broke, and the trace that shows it."""

    check: str
    verdict: str
    requirement: str
    level: str
    statement: str
    link: str
    expected: str
    observed: str
    excerpt: list[str]
    revisions: list[str]
    trace: str
    """Name of the file below `traces/`."""

    @property
    def key(self) -> Key:
        return self.check, self.requirement


class JudgedPackage(msgspec.Struct, frozen=True):
    name: str = msgspec.field(name="server")
    version: str
    transport: str
    speaks: list[str]
    outcomes: dict[str, int]
    findings: list[RecordedFinding] = msgspec.field(name="found")
    runs: int = 1
    differing: int = 0
    """Scenario runs whose outcome or verdicts were not the same in all runs."""


class Record(msgspec.Struct, frozen=True):
    scenarios: int
    """Size of the suite."""
    checks: int
    judged: list[JudgedPackage]


def findings(cell: CellResult) -> Iterable[tuple[Key, CheckResult, Finding]]:
    """The first finding of each kind, without those that follow from others."""
    known: set[Key] = set()
    for check in cell.checks:
        for finding in check.findings:
            key = (check.id, finding.requirement)
            if key not in known and finding.follows_from in ("", finding.requirement):
                known.add(key)
                yield key, check, finding


def places_of(run: Run) -> Places:
    """The scenario runs with each finding, in the order of the run."""
    places: dict[Key, list[CellResult]] = {}
    for cell in run.cells:
        for key, _, _ in findings(cell):
            places.setdefault(key, []).append(cell)
    return places


def smallest_cover(places: Places, size: Mapping[str, int]) -> list[CellResult]:
    """A few small traces that together show every finding, chosen greedily."""
    missing = set(places)
    cells = {cell.trace: cell for group in places.values() for cell in group}
    findings = {trace: {key for key in places if cell in places[key]} for trace, cell in cells.items()}
    picked = []
    while missing:
        # Most new findings per byte; then the newer revision.
        best = max(
            cells,
            key=lambda trace: (len(findings[trace] & missing) / size[trace], cells[trace].revision),
        )
        picked.append(cells[best])
        missing -= findings[best]
    return picked


def trace_name(cell: CellResult) -> str:
    return f"{dashed(cell.scenario)}-{cell.transport}-{cell.revision}.ndjson"


def findings_in(
    suite: Suite, trace: Path, name: str, places: Mapping[Key, Sequence[str]]
) -> list[RecordedFinding]:
    """The findings of a stored trace; `places` are the revisions at which each was made."""
    cell = rejudged([suite], [(name, read_trace(trace))]).cells[0]
    return [
        RecordedFinding(
            check=check.id,
            verdict=str(Verdict.FAILURE if Level(finding.level).binding else Verdict.WARNING),
            requirement=finding.requirement,
            level=finding.level,
            statement=finding.statement,
            link=finding.link,
            expected=finding.expected,
            observed=finding.observed,
            excerpt=finding.excerpt,
            revisions=list(places.get(key, [cell.revision])),
            trace=name,
        )
        for key, check, finding in findings(cell)
    ]


def deduplicated(findings: Iterable[RecordedFinding]) -> list[RecordedFinding]:
    """Each finding from the first trace that shows it, in order of check and requirement."""
    first: dict[Key, RecordedFinding] = {}
    for finding in findings:
        first.setdefault(finding.key, finding)
    return [first[key] for key in sorted(first)]


def outcomes(run: Run) -> dict[str, int]:
    return dict(Counter(str(cell.outcome) for cell in run.cells))
