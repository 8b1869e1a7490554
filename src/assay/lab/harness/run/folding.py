"""One cause, one finding: what follows from another finding stays in the run, and does not count again.

Within a trace, a requirement declares which others it restates (the same message, judged by another rule) and
which it follows from. Across a run, a fault in every message is counted where a scenario tests for it, not in
each scenario that happens to show it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from msgspec.structs import replace

from assay.lab.harness.catalogue import Suite
from assay.lab.harness.check import Breaches
from assay.lab.harness.reason import stored
from assay.lab.harness.requirement import Level, Requirement
from assay.lab.harness.verdict import CheckResult, Finding, Outcome, Verdict

from .conclusion import UNOBSERVED, outcome_of
from .run import CellResult

PIECES: Final = "; "
"""Separates the problems that one finding names."""
EXITS: Final = frozenset({"CLIENT-01", "CLIENT-03"})
"""The requirements that a client exits, and without an error. They are the lab's own."""
_VARYING: Final = re.compile(r"\d+|'[^']*'|\"[^\"]*\"")
Key = tuple[str, str, int, str, str, str]
"""Transport, revision, attempt, check, requirement and what was observed, without numbers and quotations."""


def consequences_folded(
    results: Sequence[CheckResult], breaches: Breaches, requirements: Mapping[str, Requirement]
) -> list[CheckResult]:
    """The results of one trace, where findings that follow from others name their cause."""
    levels = {each.requirement: each.level for result in results for each in result.findings}

    def folded(finding: Finding) -> Finding:
        rule = requirements[finding.requirement]
        causes = [name for name in _causes(rule, finding, breaches) if _is_as_binding(levels[name], finding)]
        return replace(finding, follows_from=causes[0]) if causes else finding

    return [_recounted(result, [folded(finding) for finding in result.findings]) for result in results]


def _causes(rule: Requirement, finding: Finding, breaches: Breaches) -> list[str]:
    """Broken requirements that explain the whole finding."""
    causes = [name for name in rule.follows_from if name in breaches]
    frames = set(finding.frames)
    restated = {
        name: pattern for name, pattern in rule.restates.items() if frames & breaches.get(name, set())
    }
    pieces = finding.observed.split(PIECES)
    if all(any(re.fullmatch(pattern, piece) for pattern in restated.values()) for piece in pieces):
        causes += restated
    return causes


def _is_as_binding(level: str, finding: Finding) -> bool:
    """A broken MUST is never folded beneath a SHOULD."""
    return Level(level).binding or not Level(finding.level).binding


def _recounted(result: CheckResult, findings: list[Finding]) -> CheckResult:
    if findings == result.findings:
        return result
    binding = [Level(finding.level).binding for finding in findings if not finding.follows_from]
    verdict = Verdict.FAILURE if any(binding) else Verdict.WARNING if binding else Verdict.INFO
    return replace(result, findings=findings, verdict=verdict)


def exit_explained(results: Sequence[CheckResult]) -> list[CheckResult]:
    """The results of a client's trace, where the end of its process follows from what went wrong before."""
    names = [each.requirement for result in results for each in result.findings]
    cause = next((name for name in names if name not in EXITS), None)
    if cause is None:
        return list(results)

    def folded(finding: Finding) -> Finding:
        return replace(finding, follows_from=cause) if finding.requirement in EXITS else finding

    return [_recounted(result, [folded(finding) for finding in result.findings]) for result in results]


def counted_once(suite: Suite, cells: Sequence[CellResult]) -> list[CellResult]:
    """The results of a run, where a fault of checks that read every trace counts in the scenarios that test
    for it; if none of them shows it, in the first one that does."""
    everywhere = {check.id for check in suite.checks.values() if check.everywhere}
    sought = {cell.scenario: _sought(suite, cell.scenario) for cell in cells}
    places: dict[Key, list[int]] = {}
    for number, cell in enumerate(cells):
        for check in cell.checks:
            for finding in check.findings if check.id in everywhere else ():
                places.setdefault(_key(cell, check, finding), []).append(number)

    def counts(number: int, check: CheckResult, finding: Finding) -> bool:
        cell, holders = cells[number], places.get(_key(cells[number], check, finding), [number])
        tested = any(check.id in sought[cells[holder].scenario] for holder in holders)
        return check.id in sought[cell.scenario] if tested else number == holders[0]

    def folded(number: int, check: CheckResult) -> CheckResult:
        findings = [
            finding
            if finding.follows_from or counts(number, check, finding)
            else replace(finding, follows_from=finding.requirement)
            for finding in check.findings
        ]
        return _recounted(check, findings)

    return [
        _reconsidered(cell, [folded(number, check) for check in cell.checks], sought[cell.scenario])
        for number, cell in enumerate(cells)
    ]


def _sought(suite: Suite, name: str) -> Sequence[str]:
    scenario = suite.scenarios.get(name)
    return suite.sought(scenario) if scenario is not None else ()


def _key(cell: CellResult, check: CheckResult, finding: Finding) -> Key:
    observed = _VARYING.sub("#", finding.observed)
    return cell.transport, cell.revision, cell.attempt, check.id, finding.requirement, observed


def _reconsidered(cell: CellResult, checks: list[CheckResult], sought: Sequence[str]) -> CellResult:
    if checks == cell.checks:
        return cell
    outcome = outcome_of(sought, checks, broke_off=cell.broke_off)
    reason = stored(UNOBSERVED) if outcome is Outcome.INCOMPLETE and not cell.reason else {}
    return replace(cell, checks=checks, outcome=outcome, **reason)
