"""Differences of two stored runs: worse, better, new, gone or flaky."""

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
def test_lower_outcome_is_worse_and_higher_is_better(worse: CellResult, better: CellResult) -> None:
    assert trends([better], [worse]) == [Trend.WORSE]
    assert trends([worse], [better]) == [Trend.BETTER]
    assert trends([worse], [worse]) == trends([better], [better]) == []


def test_another_failing_check_is_worse_even_with_the_same_outcome() -> None:
    more = cell("a.b", ("c.d", Verdict.FAILURE), ("e.f", Verdict.FAILURE))
    (change,) = difference(run_of(FAILED), run_of(more)).cells
    assert (change.trend, [each.check for each in change.checks]) == (Trend.WORSE, ["e.f"])
    assert trends([more], [FAILED]) == [Trend.BETTER]


def test_another_requirement_broken_by_the_same_check_is_worse() -> None:
    other = replace(FAILED.checks[0], findings=[finding(), replace(finding("else"), requirement="TL-20")])
    (change,) = difference(run_of(FAILED), run_of(replace(FAILED, checks=[other]))).cells
    assert change.trend is Trend.WORSE
    assert change.checks[0].finding is not None and change.checks[0].finding.requirement == "TL-20"


def test_a_check_without_observations_is_not_worse() -> None:
    observed = cell("a.b", ("c.d", Verdict.SUCCESS), ("e.f", Verdict.SUCCESS))
    unobserved = cell("a.b", ("c.d", Verdict.SUCCESS), ("e.f", Verdict.SKIPPED))
    assert trends([observed], [unobserved]) == []


def test_new_and_gone_are_neither_better_nor_worse() -> None:
    other = replace(FAILED, transport="http")
    result = difference(run_of(PASSED), run_of(PASSED, other))
    assert ([change.trend for change in result.cells], result.same, result.is_worse) == (
        [Trend.NEW],
        1,
        False,
    )
    assert trends([PASSED, other], [PASSED]) == [Trend.GONE]


@pytest.mark.parametrize(
    "flaky", [[PASSED, replace(FAILED, attempt=2)], [FAILED, replace(PASSED, attempt=2)]]
)
def test_different_outcomes_among_attempts_are_flaky(flaky: list[CellResult]) -> None:
    assert trends([PASSED], flaky) == trends(flaky, [FAILED]) == [Trend.FLAKY]
    (change,) = difference(run_of(*flaky), run_of(FAILED)).cells
    assert " or " in change.before


def test_worst_come_first_and_are_counted() -> None:
    def at(result: CellResult, transport: str) -> CellResult:
        return replace(result, transport=transport)

    before = run_of(at(FAILED, "ws"), at(PASSED, "http"), at(PASSED, "stdio"))
    after = run_of(at(PASSED, "ws"), at(FAILED, "http"), at(PASSED, "http-sse"))
    result = difference(before, after)
    assert [change.trend for change in result.cells] == [Trend.WORSE, Trend.BETTER, Trend.NEW, Trend.GONE]
    assert result.is_worse and result.counts[Trend.WORSE] == 1


def test_a_change_is_explained_by_finding_and_frame() -> None:
    frame = FrameDifference("1/lines", "subject", 3, 4, "/result/x", "1", "2")
    (change,) = difference(run_of(PASSED), run_of(FAILED), lambda old, new: frame).cells
    (check,) = change.checks
    assert (change.before, change.after, change.frame) == ("passed", "failed", frame)
    assert (check.before, check.after) == ("SUCCESS", "FAILURE")
    assert check.finding is not None and check.finding.observed == "that"
