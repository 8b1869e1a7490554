"""Findings of the fuzzer, and their cells in the stored run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import msgspec
from msgspec import Struct

from assay.lab.harness.run.run import CellResult
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import CheckResult, Outcome, Verdict

from .case import Case
from .conversation import SCENARIO
from .judge import BrokenRule
from .target import FuzzTarget

MOST_SHAPES: Final = 5
"""The most findings for a requirement and subject; more would not help to find the cause."""
Reproduce = Callable[[FuzzTarget, Case], str]
"""Returns the command that reproduces a finding."""


class FuzzFinding(Struct, frozen=True):
    target: FuzzTarget
    broken: BrokenRule
    case: Case
    trace: Trace
    results: list[CheckResult]
    started: str

    def breaks_same_rule(self, target: FuzzTarget, broken: BrokenRule) -> bool:
        same = self.broken.check == broken.check and self.broken.requirement == broken.requirement
        return same and self.target.subject is target.subject

    def cell(self, attempt: int, reproduce: Reproduce) -> CellResult:
        failed = any(result.verdict is Verdict.FAILURE for result in self.results)
        command = reproduce(self.target, self.case)
        return CellResult(
            scenario=f"{SCENARIO}.{self.broken.check.removeprefix(f'{SCENARIO}.')}",
            title=" and ".join(sorted(self.case.labels)),
            transport=self.target.context.transport,
            revision=self.target.context.revision.date,
            outcome=Outcome.FAILED if failed else Outcome.WARNED,
            started=self.started,
            attempt=attempt,
            checks=[_with_command(result, command) for result in self.results],
        )


def _with_command(result: CheckResult, command: str) -> CheckResult:
    findings = [msgspec.structs.replace(finding, reproduce=command) for finding in result.findings]
    return msgspec.structs.replace(result, findings=findings)


def is_new(known: Sequence[FuzzFinding], target: FuzzTarget, broken: BrokenRule, case: Case) -> bool:
    """Whether a case shows something new, as far as its labels tell before it is shrunk."""
    similar = [finding for finding in known if finding.breaks_same_rule(target, broken)]
    return len(similar) < MOST_SHAPES and not any(finding.case.labels <= case.labels for finding in similar)
