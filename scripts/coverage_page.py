"""Write docs/evidence/coverage.md from the lab's catalogue.

python -m scripts.coverage_page           writes the page
python -m scripts.coverage_page --check   fails if the page is out of date
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from assay.lab.harness.catalogue import Suite
from assay.lab.harness.coverage import Cover, cover, explicit_requirements, tally
from assay.lab.harness.requirement import Requirement
from assay.lab.suites import protocol_suite, suite_named
from assay.revisions.registry import REVISIONS
from assay.revisions.revision import Revision

PAGE = Path(__file__).resolve().parents[1] / "docs" / "evidence" / "coverage.md"
HEAD = """\
# Coverage

The requirements of the specification that the lab tests: for servers, then [for clients](#clients). Written
by `make coverage` from `src/assay/lab/suite` and `src/assay/lab/client`; do not edit.

A requirement is **covered** at a revision if a check cites it and a *saboteur* breaks it there: a healthy
subject with that one fault. `assay prove` and the tests show that each saboteur is caught for the right
reason. **Cited** requirements have a check without that proof. **Excluded** requirements cannot be observed
from outside or are not judged by this suite; the reasons are at the end.

# Servers
"""
CLIENTS = """\
# Clients

Requirements of clients and hosts, and those of both sides as they apply to clients. Checks of the official
suite are listed under their own ids, and not counted as MUST or MUST NOT.
"""
COUNTS = (
    "{scenarios} scenarios, {checks} checks, "
    "{saboteurs} saboteurs that break {broken} of {rows} requirements.\n"
)
MARKS = {Cover.COVERED: "●", Cover.UNPROVED: "○", Cover.EXCLUDED: "-", Cover.UNCOVERED: "✗"}


def page(suite: Suite) -> str:
    """The part of one suite."""
    counts = COUNTS.format(
        scenarios=len(suite.scenarios),
        checks=len(suite.checks),
        saboteurs=len(suite.faults),
        broken=len({fault.breaks for fault in suite.faults.values()}),
        rows=len(suite.requirements),
    )
    parts = (by_revision(suite), by_area(suite), saboteurs(suite), rules(suite), reasons(suite))
    return "\n".join((counts, *("\n".join(part) + "\n" for part in parts)))


def pages() -> str:
    return "\n".join((HEAD, page(protocol_suite()), CLIENTS, page(suite_named("client"))))


def table(heads: Sequence[str], rows: Iterator[Sequence[object]]) -> Iterator[str]:
    yield f"| {' | '.join(heads)} |"
    yield f"|{'---|' * len(heads)}"
    for row in rows:
        yield f"| {' | '.join(str(cell).replace('|', chr(92) + '|') for cell in row)} |"


def by_revision(suite: Suite) -> Iterator[str]:
    yield "## MUST and MUST NOT, by revision\n"
    yield from table(
        ("revision", "testable", "covered", "cited", "uncovered", "excluded", "covered of testable"),
        (revision_row(suite, revision) for revision in REVISIONS),
    )


def revision_row(suite: Suite, revision: Revision) -> Sequence[object]:
    shares = tally(explicit_requirements(suite, revision), revision, suite)
    kinds = (Cover.COVERED, Cover.UNPROVED, Cover.UNCOVERED, Cover.EXCLUDED)
    numbers = [shares.counts.get(kind, 0) for kind in kinds]
    return (revision, shares.testable, *numbers, f"{shares.share:.0%}")


def by_area(suite: Suite) -> Iterator[str]:
    areas = sorted({row.area for row in suite.requirements.values()})
    yield "## MUST and MUST NOT, by area: covered of testable\n"
    yield from table(
        ("area", *map(str, REVISIONS)),
        ((area, *(share(suite, area, revision) for revision in REVISIONS)) for area in areas),
    )


def share(suite: Suite, area: str, revision: Revision) -> str:
    rows = [row for row in explicit_requirements(suite, revision) if row.area == area]
    shares = tally(rows, revision, suite)
    return f"{shares.counts.get(Cover.COVERED, 0)} of {shares.testable}" if shares.testable else "-"


def saboteurs(suite: Suite) -> Iterator[str]:
    areas = sorted({fault.area for fault in suite.faults.values()})
    yield "## Saboteurs, by area\n"
    yield from table(
        ("area", "saboteurs", "requirements that they break"), (faults(suite, area) for area in areas)
    )


def faults(suite: Suite, area: str) -> Sequence[object]:
    broken = [fault.breaks for fault in suite.faults.values() if fault.area == area]
    return (area, len(broken), len(set(broken)))


def rules(suite: Suite) -> Iterator[str]:
    yield "## Testable requirements, by area\n"
    yield "● covered, ○ cited, ✗ uncovered; empty if the revision does not have the requirement.\n"
    testable = [row for row in suite.requirements.values() if row.reason is None]
    for area in sorted({row.area for row in testable}):
        yield f"### {area}\n"
        rows = (rule(suite, row) for row in testable if row.area == area)
        yield from table(("requirement", "statement", *map(str, REVISIONS), "checks"), rows)
        yield ""


def rule(suite: Suite, row: Requirement) -> Sequence[object]:
    marks = (
        f"{MARKS[cover(row, revision, suite)]} {level.value}" if (level := row.level(revision)) else ""
        for revision in REVISIONS
    )
    checks = ", ".join(f"`{check.id}`" for check in suite.checks.values() if row.id in check.requirements)
    return (row.id, row.statement, *marks, checks)


def reasons(suite: Suite) -> Iterator[str]:
    yield "## Excluded, with reasons\n"
    by_reason: dict[str, list[str]] = {}
    for row in suite.requirements.values():
        if row.reason is not None:
            by_reason.setdefault(row.reason, []).append(row.id)
    yield from table(
        ("reason", "requirements"), ((reason, ", ".join(ids)) for reason, ids in by_reason.items())
    )


def main(arguments: Sequence[str]) -> int:
    expected = pages()
    if "--check" not in arguments:
        PAGE.write_text(expected, "utf-8")
        return 0
    if PAGE.exists() and PAGE.read_text("utf-8") == expected:
        return 0
    print("docs/evidence/coverage.md is out of date: run `make coverage`", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
