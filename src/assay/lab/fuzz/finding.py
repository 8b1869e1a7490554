"""What the fuzzer has found, and how it goes into the stored run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import msgspec
from msgspec import Struct

from assay.lab.harness.run.run import CellResult
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import CheckResult, Outcome, Verdict

from .case import Case
from .jury import Broken
from .place import Place
from .talk import SCENARIO

MOST_SHAPES: Final = 5
"""Findings of one check on one transport: a server that breaks everywhere is known by then."""
Again = Callable[[Place, Case], str]
"""The line that shows a finding again."""


class Found(Struct, frozen=True):
    place: Place
    broken: Broken
    case: Case
    trace: Trace
    results: list[CheckResult]
    started: str

    def is_like(self, place: Place, broken: Broken, case: Case) -> bool:
        """Whether another case shows the same, as far as anybody can tell before it is made smaller."""
        same = self.place.subject is place.subject and self.broken.check == broken.check
        return same and self.broken.row == broken.row and self.case.labels <= case.labels

    def cell(self, attempt: int, again: Again) -> CellResult:
        failed = any(one.verdict is Verdict.FAILURE for one in self.results)
        line = again(self.place, self.case)
        return CellResult(
            scenario=f"{SCENARIO}.{self.broken.check.removeprefix(f'{SCENARIO}.')}",
            title=f"{' and '.join(sorted(self.case.labels))}",
            transport=self.place.ground.transport,
            revision=self.place.ground.revision.date,
            outcome=Outcome.FAILED if failed else Outcome.WARNED,
            started=self.started,
            attempt=attempt,
            checks=[_reproduced(one, line) for one in self.results],
        )


def _reproduced(result: CheckResult, line: str) -> CheckResult:
    findings = [msgspec.structs.replace(one, reproduce=line) for one in result.findings]
    return msgspec.structs.replace(result, findings=findings)


def is_new(known: Sequence[Found], place: Place, broken: Broken, case: Case) -> bool:
    alike = [
        one
        for one in known
        if one.place.subject is place.subject
        and one.broken.check == broken.check
        and one.broken.row == broken.row
    ]
    return len(alike) < MOST_SHAPES and not any(one.is_like(place, broken, case) for one in alike)
