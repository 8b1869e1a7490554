"""Write docs/evidence/coverage.md from the lab's catalogue.

python -m scripts.coverage_page           writes the page
python -m scripts.coverage_page --check   fails if it is not as it would be written
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

Which rules of the specification the lab checks: those for servers, and then [those for clients](#clients).
This page is made by `make coverage` from the catalogues in `src/assay/lab/suite` and `src/assay/lab/client`;
nobody edits it.

A rule is **covered** at a revision if a check cites it and a scenario meets a *saboteur* there: a healthy
subject with one fault that breaks this very rule. That each saboteur is caught, for the right reason, is
shown by `assay prove` and by the tests. **Cited** is a rule that a check cites without that proof.
**Excluded** is what cannot be seen from outside, or is not judged by this suite: each with its reason, at the
end.

# Servers
"""
CLIENTS = """\
# Clients

Rules of clients and hosts, and those that bind both sides, as clients are held to them. What the official
suite looks for is among the rules under its own ids, and not among the MUST and MUST NOT.
"""
COUNTS = (
    "{scenarios} scenarios, {checks} checks, {saboteurs} saboteurs that break {broken} of {rows} rules.\n"
)
MARKS = {Cover.COVERED: "●", Cover.UNPROVED: "○", Cover.EXCLUDED: "-", Cover.UNCOVERED: "✗"}


def page(suite: Suite) -> str:
    """What there is to tell of one suite."""
    counts = COUNTS.format(
        scenarios=len(suite.scenarios),
        checks=len(suite.checks),
        saboteurs=len(suite.faults),
        broken=len({one.breaks for one in suite.faults.values()}),
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
    areas = sorted({one.area for one in suite.faults.values()})
    yield "## Saboteurs, by area\n"
    yield from table(("area", "saboteurs", "rules that they break"), (faults(suite, area) for area in areas))


def faults(suite: Suite, area: str) -> Sequence[object]:
    broken = [one.breaks for one in suite.faults.values() if one.area == area]
    return (area, len(broken), len(set(broken)))


def rules(suite: Suite) -> Iterator[str]:
    yield "## Every rule that can be tested, by area\n"
    yield "● covered, ○ cited, ✗ uncovered; nothing where the revision does not have the rule.\n"
    testable = [row for row in suite.requirements.values() if row.reason is None]
    for area in sorted({row.area for row in testable}):
        yield f"### {area}\n"
        rows = (rule(suite, row) for row in testable if row.area == area)
        yield from table(("rule", "says", *map(str, REVISIONS), "checks"), rows)
        yield ""


def rule(suite: Suite, row: Requirement) -> Sequence[object]:
    marks = (
        f"{MARKS[cover(row, revision, suite)]} {level.value}" if (level := row.level(revision)) else ""
        for revision in REVISIONS
    )
    checks = ", ".join(f"`{one.id}`" for one in suite.checks.values() if row.id in one.requirements)
    return (row.id, row.statement, *marks, checks)


def reasons(suite: Suite) -> Iterator[str]:
    yield "## Excluded, with the reason\n"
    found: dict[str, list[str]] = {}
    for row in suite.requirements.values():
        if row.reason is not None:
            found.setdefault(row.reason, []).append(row.id)
    yield from table(("reason", "rules"), ((reason, ", ".join(ids)) for reason, ids in found.items()))


def main(arguments: Sequence[str]) -> int:
    wanted = pages()
    if "--check" not in arguments:
        PAGE.write_text(wanted, "utf-8")
        return 0
    if PAGE.exists() and PAGE.read_text("utf-8") == wanted:
        return 0
    print("docs/evidence/coverage.md is not what the catalogue says: make coverage", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
