"""What was found: by server, each finding once, with the one trace that is kept as its proof."""

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
"""Check and requirement: what makes two findings on one server the same."""
Places = Mapping[Key, Sequence[CellResult]]


class Found(msgspec.Struct, frozen=True):
    """A requirement that a server was seen to break, and the trace that shows it."""

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


class Judged(msgspec.Struct, frozen=True):
    server: str
    version: str
    transport: str
    speaks: list[str]
    outcomes: dict[str, int]
    found: list[Found]


class Record(msgspec.Struct, frozen=True):
    scenarios: int
    """How large the suite was."""
    checks: int
    judged: list[Judged]


def findings(cell: CellResult) -> Iterable[tuple[Key, CheckResult, Finding]]:
    """The first finding of each kind."""
    seen: set[Key] = set()
    for check in cell.checks:
        for finding in check.findings:
            key = (check.id, finding.requirement)
            if key not in seen:
                seen.add(key)
                yield key, check, finding


def places_of(run: Run) -> Places:
    """Where each finding was made, in the order of the run."""
    places: dict[Key, list[CellResult]] = {}
    for cell in run.cells:
        for key, _, _ in findings(cell):
            places.setdefault(key, []).append(cell)
    return places


def chosen(places: Places, size: Mapping[str, int]) -> list[CellResult]:
    """A few small cells that together show every finding: the one with most that is new, again and again."""
    missing = set(places)
    cells = {cell.trace: cell for found in places.values() for cell in found}
    shown = {trace: {key for key in places if cell in places[key]} for trace, cell in cells.items()}
    picked = []
    while missing:
        # Of the same worth, the smaller; of the same size, the newer revision.
        best = max(
            cells,
            key=lambda one: (len(shown[one] & missing) / size[one], cells[one].revision),
        )
        picked.append(cells[best])
        missing -= shown[best]
    return picked


def trace_name(cell: CellResult) -> str:
    return f"{dashed(cell.scenario)}-{cell.transport}-{cell.revision}.ndjson"


def found_in(suite: Suite, trace: Path, name: str, places: Mapping[Key, Sequence[str]]) -> list[Found]:
    """All that a stored trace shows; `places` are the revisions at which each finding was made."""
    cell = rejudged([suite], [(name, read_trace(trace))]).cells[0]
    return [
        Found(
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


def once(found: Iterable[Found]) -> list[Found]:
    """Each finding from the first trace that shows it, in order of check and requirement."""
    first: dict[Key, Found] = {}
    for one in found:
        first.setdefault(one.key, one)
    return [first[key] for key in sorted(first)]


def outcomes(run: Run) -> dict[str, int]:
    return dict(Counter(str(cell.outcome) for cell in run.cells))
