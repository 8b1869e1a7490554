"""A scenario that fails by a demand of another edition is not shown as failed."""

from assay.certify.certification import SUITE
from assay.certify.profile_events import concerning
from assay.certify.profile_list import INTELGRAPH, newest
from assay.lab.harness.run.event import CellFinished, RunEvent, RunFinished
from assay.lab.harness.verdict import Outcome, Verdict
from assay.lab.suites import suite_named
from tests.certify.runs import cell, checked, run

BATCH, BY_REVISION = "CONF-JRPC-03.batch", "CONF-JRPC-03.batch-by-revision"
DEMANDS = {demand.id for demand in newest(INTELGRAPH).demands}


def outcomes(batch: Verdict, by_revision: Verdict) -> list[Outcome]:
    seen: list[RunEvent] = []
    watch = concerning(DEMANDS, suite_named(SUITE), seen.append)
    result = cell(checked(BATCH, batch), checked(BY_REVISION, by_revision), scenario="negatives.batch")
    watch(CellFinished(result))
    watch(RunFinished(run(result)))
    first, last = seen
    assert isinstance(first, CellFinished) and isinstance(last, RunFinished)
    assert [check.id for check in first.result.checks] == [BY_REVISION]
    return [first.result.outcome, last.run.cells[0].outcome]


def test_only_demands_of_the_profile_count() -> None:
    assert BATCH not in DEMANDS and BY_REVISION in DEMANDS
    assert outcomes(Verdict.FAILURE, Verdict.SUCCESS) == [Outcome.PASSED] * 2
    assert outcomes(Verdict.SUCCESS, Verdict.FAILURE) == [Outcome.FAILED] * 2
