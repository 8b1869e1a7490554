"""What a report says beside findings."""

from __future__ import annotations

from msgspec.structs import replace

from assay.lab.harness.run.remark import unproved
from assay.lab.harness.run.run import CellResult
from assay.lab.harness.verdict import Outcome
from assay.revisions.registry import REVISIONS
from tests.lab.runs import cell, run_of

FIRST, SECOND = (revision.date for revision in REVISIONS[:2])


def unproved_cell(
    scenario: str, revision: str, outcome: Outcome = Outcome.NOT_APPLICABLE, reason: str = "no tool"
) -> CellResult:
    return replace(cell(scenario, outcome=outcome), revision=revision, reason=reason)


def test_scenarios_with_the_same_reason_share_a_line() -> None:
    run = run_of(
        unproved_cell("tools.bad-arguments", FIRST),
        unproved_cell("tools.bad-arguments", SECOND),
        unproved_cell("tools.read-only-calls", FIRST),
        unproved_cell("tools.unknown-name", FIRST, Outcome.PASSED, ""),
        unproved_cell("tools.unknown-name", SECOND),
    )
    assert list(unproved(run)) == [
        "not applicable: tools.bad-arguments, tools.read-only-calls (stdio): no tool",
        f"not applicable: tools.unknown-name (stdio {SECOND}): no tool",
    ]


def test_what_is_incomplete_stands_next_to_the_conclusion() -> None:
    run = run_of(
        unproved_cell("tools.bad-arguments", FIRST, Outcome.INCOMPLETE),
        unproved_cell("tools.read-only-calls", FIRST),
    )
    assert [line.partition(":")[0] for line in unproved(run)] == ["not applicable", "incomplete"]
