"""From observations to a verdict."""

from collections.abc import Iterator

import pytest

from assay.lab.harness.check import MAX_FINDINGS, Check, CheckFailed, check, run_check
from assay.lab.harness.requirement import Level, Requirement
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.transport import ANY
from assay.lab.harness.verdict import Observation, Verdict, observe
from assay.revisions.registry import HANDSHAKE
from tests.lab.traces import request, result, stdio_trace

NEWEST = HANDSHAKE[-1].date


def requirement(name: str, level: Level | None) -> Requirement:
    levels = {} if level is None else {NEWEST: level}
    return Requirement(name, "area", f"the rule {name}", levels, "page")


REQUIREMENTS = {
    "MUST": requirement("MUST", Level.MUST),
    "FLOW": requirement("FLOW", Level.IMPLIED_MUST),
    "SHOULD": requirement("SHOULD", Level.SHOULD),
    "GONE": requirement("GONE", None),
}
TRACE = stdio_trace((">", request(1, "ping")), ("<", result(1)))


def verdict_of(*observed: tuple[str, bool], trace: Trace = TRACE) -> Verdict:
    @check("a check", requirements=tuple(REQUIREMENTS))
    def judge(trace: Trace) -> Iterator[Observation]:
        for name, holds in observed:
            yield observe(name, holds, *trace.frames, expected="this", observed="that")

    (judged,) = run_check(judge, trace, REQUIREMENTS)
    return judged.verdict


@pytest.mark.parametrize(
    ("observed", "verdict"),
    [
        ([], Verdict.SKIPPED),
        ([("MUST", True)], Verdict.SUCCESS),
        ([("MUST", False)], Verdict.FAILURE),
        ([("FLOW", False)], Verdict.FAILURE),
        ([("SHOULD", False)], Verdict.WARNING),
        ([("SHOULD", False), ("MUST", False)], Verdict.FAILURE),
        ([("SHOULD", False), ("MUST", True)], Verdict.WARNING),
        ([("GONE", False)], Verdict.SKIPPED),
        ([("GONE", False), ("SHOULD", True)], Verdict.SUCCESS),
    ],
)
def test_strongest_observation_decides(observed: list[tuple[str, bool]], verdict: Verdict) -> None:
    assert verdict_of(*observed) is verdict


def test_scenario_that_broke_off_can_fail_but_not_succeed() -> None:
    cut = stdio_trace((">", request(1, "ping")), closed=False)
    assert verdict_of(("MUST", True), trace=cut) is Verdict.SKIPPED
    assert verdict_of(("MUST", False), trace=cut) is Verdict.FAILURE


def test_finding_has_rule_link_excerpt_and_command() -> None:
    @check("a check", requirements=("MUST",))
    def judge(trace: Trace) -> Iterator[Observation]:
        (exchange,) = trace.exchanges()
        yield observe("MUST", False, exchange, expected="this", observed="that")

    (judged,) = run_check(judge, TRACE, REQUIREMENTS)
    (finding,) = judged.findings
    assert (finding.requirement, finding.level, finding.statement) == ("MUST", "MUST", "the rule MUST")
    assert finding.link == f"https://modelcontextprotocol.io/specification/{NEWEST}/page"
    assert finding.frames == [0, 1]
    assert len(finding.excerpt) == 2
    assert finding.reproduce.startswith(r"(printf '%s\n' ") and finding.reproduce.endswith("| by hand")


def test_findings_are_bounded_for_each_row() -> None:
    @check("a check", requirements=("MUST", "SHOULD"))
    def judge(trace: Trace) -> Iterator[Observation]:
        for name in ["MUST"] * 100 + ["SHOULD"]:
            yield observe(name, False, expected="", observed="")

    (judged,) = run_check(judge, TRACE, REQUIREMENTS)
    cited = [finding.requirement for finding in judged.findings]
    assert cited == ["MUST"] * MAX_FINDINGS + ["SHOULD"]


def test_check_that_raises_is_a_defect_of_the_lab() -> None:
    @check("a check", requirements=("MUST",))
    def judge(trace: Trace) -> Iterator[Observation]:
        raise LookupError("oh")
        yield

    with pytest.raises(CheckFailed, match="LookupError: oh"):
        run_check(judge, TRACE, REQUIREMENTS)


def test_check_may_not_cite_an_undeclared_requirement() -> None:
    @check("a check", requirements=("MUST",))
    def judge(trace: Trace) -> Iterator[Observation]:
        yield observe("SHOULD", True, expected="", observed="")

    with pytest.raises(CheckFailed, match="cites SHOULD"):
        run_check(judge, TRACE, REQUIREMENTS)


def test_rows_that_are_checks_of_their_own_are_judged_one_by_one() -> None:
    def judge(trace: Trace) -> Iterator[Observation]:
        yield observe("MUST", False, *trace.frames, expected="this", observed="that")
        yield observe("SHOULD", True, *trace.frames, expected="this", observed="that")

    official = Check(
        "scenario",
        "a scenario's checks",
        dict.fromkeys(REQUIREMENTS, ""),
        judge,
        False,
        ANY,
        by_requirement=True,
    )
    results = run_check(official, TRACE, REQUIREMENTS)
    judged = {result.id: (result.title, result.verdict) for result in results}
    assert judged == {
        "MUST": ("the rule MUST", Verdict.FAILURE),
        "FLOW": ("the rule FLOW", Verdict.SKIPPED),
        "SHOULD": ("the rule SHOULD", Verdict.SUCCESS),
    }
