"""Two stored runs: what is worse, better, new, gone or flaky."""

import pytest
from msgspec.structs import replace

from assay.lab.harness.golden.frame_difference import FrameDifference
from assay.lab.harness.run.difference import Trend, difference
from assay.lab.harness.run.run import CellResult
from assay.lab.harness.verdict import Outcome, Verdict
from tests.lab.runs import cell, finding, run_of

PASSED = cell("a.b", ("c.d", Verdict.SUCCESS))
FAILED = cell("a.b", ("c.d", Verdict.FAILURE))
WARNED = cell("a.b", ("c.d", Verdict.WARNING))
SKIPPED = cell("a.b", ("c.d", Verdict.SKIPPED))
ABSENT = cell("a.b", outcome=Outcome.NOT_APPLICABLE)


def trends(before: list[CellResult], after: list[CellResult]) -> list[Trend]:
    return [change.trend for change in difference(run_of(*before), run_of(*after)).cells]


@pytest.mark.parametrize(
    ("worse", "better"),
    [
        (FAILED, PASSED),
        (WARNED, PASSED),
        (SKIPPED, PASSED),
        (ABSENT, PASSED),
        (FAILED, WARNED),
        (FAILED, SKIPPED),
    ],
)
def test_what_goes_down_is_worse_and_what_goes_up_is_better(worse: CellResult, better: CellResult) -> None:
    assert trends([better], [worse]) == [Trend.WORSE]
    assert trends([worse], [better]) == [Trend.BETTER]
    assert trends([worse], [worse]) == trends([better], [better]) == []


def test_a_check_that_fails_besides_is_worse_though_the_outcome_is_the_same() -> None:
    more = cell("a.b", ("c.d", Verdict.FAILURE), ("e.f", Verdict.FAILURE))
    found = difference(run_of(FAILED), run_of(more))
    (change,) = found.cells
    assert (change.trend, [one.check for one in change.checks]) == (Trend.WORSE, ["e.f"])
    assert trends([more], [FAILED]) == [Trend.BETTER]


def test_another_requirement_broken_by_the_same_check_is_worse() -> None:
    other = replace(FAILED.checks[0], findings=[finding(), replace(finding("else"), requirement="TL-20")])
    (change,) = difference(run_of(FAILED), run_of(replace(FAILED, checks=[other]))).cells
    assert change.trend is Trend.WORSE
    assert change.checks[0].finding is not None and change.checks[0].finding.requirement == "TL-20"


def test_a_check_that_saw_nothing_is_no_worse() -> None:
    seen = cell("a.b", ("c.d", Verdict.SUCCESS), ("e.f", Verdict.SUCCESS))
    unseen = cell("a.b", ("c.d", Verdict.SUCCESS), ("e.f", Verdict.SKIPPED))
    assert trends([seen], [unseen]) == []


def test_new_and_gone_are_neither_better_nor_worse() -> None:
    other = replace(FAILED, transport="http")
    found = difference(run_of(PASSED), run_of(PASSED, other))
    assert ([one.trend for one in found.cells], found.same, found.is_worse) == ([Trend.NEW], 1, False)
    assert trends([PASSED, other], [PASSED]) == [Trend.GONE]


@pytest.mark.parametrize(
    "flaky", [[PASSED, replace(FAILED, attempt=2)], [FAILED, replace(PASSED, attempt=2)]]
)
def test_what_differs_among_attempts_is_flaky(flaky: list[CellResult]) -> None:
    assert trends([PASSED], flaky) == trends(flaky, [FAILED]) == [Trend.FLAKY]
    (change,) = difference(run_of(*flaky), run_of(FAILED)).cells
    assert " or " in change.before


def test_worst_come_first_and_are_counted() -> None:
    def at(given: CellResult, transport: str) -> CellResult:
        return replace(given, transport=transport)

    before = run_of(at(FAILED, "ws"), at(PASSED, "http"), at(PASSED, "stdio"))
    after = run_of(at(PASSED, "ws"), at(FAILED, "http"), at(PASSED, "http-sse"))
    found = difference(before, after)
    assert [one.trend for one in found.cells] == [Trend.WORSE, Trend.BETTER, Trend.NEW, Trend.GONE]
    assert found.is_worse and found.counts[Trend.WORSE] == 1


def test_a_change_is_explained_by_finding_and_frame() -> None:
    frame = FrameDifference("1/lines", "subject", 3, 4, "/result/x", "1", "2")
    found = difference(run_of(PASSED), run_of(FAILED), lambda old, new: frame)
    (change,) = found.cells
    (check,) = change.checks
    assert (change.before, change.after, change.frame) == ("passed", "failed", frame)
    assert (check.before, check.after) == ("SUCCESS", "FAILURE")
    assert check.finding is not None and check.finding.observed == "that"
