"""Events of a certification as they concern its profile.

The suite also judges demands that only another edition of the profile has. Their results are stored with the
run, and a scenario that fails by them alone has not failed for this profile.
"""

from __future__ import annotations

from collections.abc import Collection

from msgspec.structs import replace

from assay.lab.harness.catalogue import Suite
from assay.lab.harness.run.conclusion import outcome_of
from assay.lab.harness.run.event import CellFinished, RunEvent, RunFinished, Watch
from assay.lab.harness.run.run import CellResult


def concerning(demands: Collection[str], suite: Suite, watch: Watch) -> Watch:
    """A watch that sees no results of other demands than these."""

    def seen(cell: CellResult) -> CellResult:
        checks = [check for check in cell.checks if check.id in demands]
        if len(checks) == len(cell.checks) or cell.scenario not in suite.scenarios:
            return cell
        sought = suite.sought(suite.scenarios[cell.scenario])
        outcome = outcome_of(sought, checks, broke_off=cell.broke_off)
        return replace(cell, checks=checks, outcome=outcome)

    def pass_on(event: RunEvent) -> None:
        match event:
            case CellFinished(result):
                watch(CellFinished(seen(result)))
            case RunFinished(run):
                watch(RunFinished(replace(run, cells=list(map(seen, run.cells)))))
            case _:
                watch(event)

    return pass_on
