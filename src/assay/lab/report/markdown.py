"""A comment for a pull request: the table first, what is wrong below it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from assay.lab.harness.conclusion import headline
from assay.lab.harness.run import CellResult, Run
from assay.lab.harness.verdict import CheckResult, Finding, Outcome

MOST = 50
"""Findings that are written out: comments have a size limit."""


def render(run: Run) -> str:
    return "\n".join((f"## {headline(run)}", "", *_table(run), *_remarks(run), *_findings(run))) + "\n"


def _table(run: Run) -> Iterator[str]:
    revisions = sorted({cell.revision for cell in run.cells})
    yield f"| area | {' | '.join(revisions)} |"
    yield f"|---|{'---|' * len(revisions)}"
    counts: dict[tuple[str, str], Counter[Outcome]] = {}
    for cell in run.cells:
        counts.setdefault((_area(cell.scenario), cell.revision), Counter())[cell.outcome] += 1
    for area in sorted({area for area, _ in counts}):
        cells = (_summary(counts.get((area, revision), Counter())) for revision in revisions)
        yield f"| {area} | {' | '.join(cells)} |"


def _remarks(run: Run) -> Iterator[str]:
    remarks = [
        *(f"- stale in the baseline: `{entry}`" for entry in run.stale),
        *(f"- flaky: `{scenario}` on {place} at {date}" for scenario, place, date in run.flaky),
    ]
    yield from ("", *remarks) if remarks else ()


def _area(scenario: str) -> str:
    return scenario.partition(".")[0]


def _summary(count: Counter[Outcome]) -> str:
    parts = [
        f"{number} {outcome}" for outcome, number in count.items() if outcome is not Outcome.NOT_APPLICABLE
    ]
    return ", ".join(parts) or "-"


def _findings(run: Run) -> Iterator[str]:
    distinct: dict[tuple[str, str, str], tuple[CellResult, CheckResult, Finding]] = {}
    for cell in run.cells:
        for check in cell.checks:
            for finding in check.findings:
                key = (check.id, finding.requirement, finding.observed)
                distinct.setdefault(key, (cell, check, finding))
    for found in list(distinct.values())[:MOST]:
        yield from _finding(*found)
    if len(distinct) > MOST:
        yield f"\n… and {len(distinct) - MOST} more"


def _finding(cell: CellResult, check: CheckResult, finding: Finding) -> Iterator[str]:
    rule = f"[{finding.requirement}]({finding.link}) ({finding.level})"
    yield f"\n**{check.verdict}** `{check.id}`: {_inline(check.title)}\n"
    yield f"- {rule}: {_inline(finding.statement)}"
    yield f"- expected: {_inline(finding.expected)}"
    yield f"- observed: {_inline(finding.observed)}"
    yield f"- in: `{cell.scenario}` on {cell.transport} at {cell.revision}"
    if finding.reproduce:
        yield from ("", "```sh", finding.reproduce.replace("```", "` ` `"), "```")


def _inline(text: str) -> str:
    """What a server sent must not become markup of ours."""
    return text.replace("\n", " ").replace("<", "&lt;").replace("|", "\\|")
