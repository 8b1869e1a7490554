"""Which findings count: those that follow from others, and repetitions of a fault, do not."""

from typing import Any

import pytest
from msgspec.structs import replace

from assay.lab.harness.run.baseline import compare, parse_entry
from assay.lab.harness.run.conclusion import Conclusion, conclude
from assay.lab.harness.run.defect import defects
from assay.lab.harness.run.folding import consequences_folded, counted_once
from assay.lab.harness.run.run import CellResult
from assay.lab.harness.verdict import CheckResult, Finding, Outcome, Verdict
from assay.lab.report.registry import formats, renderer
from assay.lab.suites import protocol_suite
from tests.lab.runs import REVISION, cell, finding, run_of

SUITE = protocol_suite()


def broken(requirement: str, observed: str, *frames: int, level: str = "MUST") -> Finding:
    return replace(finding(observed), requirement=requirement, level=level, frames=list(frames))


def result(check: str, *findings: Finding) -> CheckResult:
    (made,) = cell("any", (check, Verdict.FAILURE)).checks
    return replace(made, findings=list(findings))


def folded(*results: CheckResult) -> list[tuple[Verdict, list[str]]]:
    breaches: dict[str, set[int]] = {}
    for each in results:
        for one in each.findings:
            breaches.setdefault(one.requirement, set()).update(one.frames)
    after = consequences_folded(results, breaches, SUITE.requirements)
    return [(each.verdict, [one.follows_from for one in each.findings]) for each in after]


HINTS = result("stateless.cache-hints", broken("CA-01", "None and 'public'", 1, 2))


def shape(observed: str, *frames: int, **fields: Any) -> CheckResult:
    return result("jsonrpc.wire-shape", broken("SHAPE-01", observed, *frames, **fields))


def test_the_same_message_judged_by_another_rule_follows_from_the_first() -> None:
    assert folded(HINTS, shape("ttlMs: Field required", 1, 2)) == [
        (Verdict.FAILURE, [""]),
        (Verdict.INFO, ["CA-01"]),
    ]


@pytest.mark.parametrize(
    "other",
    [
        shape("ttlMs: Field required", 3, 4),
        shape("ttlMs: Field required; tools.0.name: Field required", 1, 2),
        shape("resultType: Field required", 1, 2),
    ],
    ids=["another message", "another problem, too", "a rule that was not broken"],
)
def test_finding_that_its_cause_does_not_explain_counts(other: CheckResult) -> None:
    assert folded(HINTS, other)[1] == (Verdict.FAILURE, [""])


def test_broken_must_is_not_folded_beneath_a_should() -> None:
    weak = result("stateless.cache-hints", broken("CA-01", "None", 1, level="SHOULD"))
    assert folded(weak, shape("ttlMs: Field required", 1))[1] == (Verdict.FAILURE, [""])


def test_check_with_another_finding_still_fails() -> None:
    both = result(
        "jsonrpc.wire-shape",
        broken("SHAPE-01", "ttlMs: Field required", 1),
        broken("SHAPE-01", "tools.0.name: Field required", 5),
    )
    assert folded(HINTS, both)[1] == (Verdict.FAILURE, ["CA-01", ""])


def scenario_run(scenario: str, *observed: str, **fields: Any) -> CellResult:
    """`jsonrpc.wire-shape` reads every trace, and `jsonrpc.own-words` tests for it."""
    checks = [(name, Verdict.SUCCESS) for name in SUITE.scenarios[scenario].exercises]
    made = cell(scenario, *dict(checks).items(), outcome=Outcome.FAILED, **{"reason": "", **fields})
    others = [each for each in made.checks if each.id != "jsonrpc.wire-shape"]
    return replace(made, checks=[*others, shape("; ".join(observed))] if observed else others)


def outcomes(*cells: CellResult) -> list[Outcome]:
    return [each.outcome for each in counted_once(SUITE, cells)]


TESTED = scenario_run("jsonrpc.own-words", "resultType: Field required")


def test_fault_in_every_scenario_fails_the_one_that_tests_for_it() -> None:
    ping = scenario_run("lifecycle.ping", "resultType: Field required")
    assert outcomes(ping, TESTED) == [Outcome.PASSED, Outcome.FAILED]


def test_fault_that_no_scenario_tests_for_fails_the_first() -> None:
    ping, tools = (
        scenario_run(name, "tools.0: Field required") for name in ("lifecycle.ping", "tools.definitions")
    )
    assert outcomes(ping, tools) == [Outcome.FAILED, Outcome.PASSED]


def test_other_faults_attempts_revisions_and_transports_count_for_themselves() -> None:
    other = scenario_run("lifecycle.ping", "capabilities: Field required")
    same = scenario_run("lifecycle.ping", "resultType: Field required")
    again, elsewhere, older = (
        replace(same, **change)
        for change in ({"attempt": 2}, {"transport": "http"}, {"revision": "2025-06-18"})
    )
    assert outcomes(TESTED, other, again, elsewhere, older) == [Outcome.FAILED] * 5


def test_repeated_fault_is_one_defect_with_all_its_places_and_the_run_fails() -> None:
    ping = scenario_run("lifecycle.ping", "resultType: Field required")
    run = run_of(*counted_once(SUITE, [ping, TESTED]))
    (defect,) = defects(run)
    assert defect.cell.scenario == "jsonrpc.own-words"
    assert len(defect.places) == 2
    assert conclude(run) is Conclusion.DOES_NOT_CONFORM
    assert compare(run, [parse_entry("lifecycle.ping:jsonrpc.wire-shape")]).stale == []


def test_reports_show_what_follows_beneath_its_cause() -> None:
    effect = replace(broken("VER-04", "no ttlMs", 1), follows_from="CA-01", title="Discovery is incomplete")
    made = cell("stateless.lists", ("stateless.cache-hints", Verdict.FAILURE))
    follows = replace(result("stateless.discovery", effect), verdict=Verdict.INFO)
    run = run_of(replace(made, checks=[HINTS, follows]))
    (defect,) = defects(run)
    assert [each.finding.requirement for each in defect.consequences] == ["VER-04"]
    for name in {"text", "markdown", "sarif", "html"} & {*formats()}:
        assert "follows: " in renderer(name)(run) or "  follows   stateless" in renderer(name)(run), name
        assert "Discovery is incomplete, in 1 run" in renderer(name)(run), name
    assert f"stateless.lists [stdio {REVISION}]" in renderer("junit")(run)
    assert renderer("junit")(run).count("<failure") == 1


def test_what_follows_from_a_finding_that_the_run_lacks_is_shown_by_itself() -> None:
    effect = replace(broken("VER-04", "no ttlMs", 1), follows_from="CA-01")
    made = cell("stateless.lists", ("stateless.discovery", Verdict.FAILURE))
    run = run_of(replace(made, checks=[result("stateless.discovery", effect)]))
    assert [defect.finding.requirement for defect in defects(run)] == ["VER-04"]


def test_requirements_name_causes_that_exist_and_none_that_lead_back() -> None:
    for requirement in SUITE.requirements.values():
        for cause in (*requirement.restates, *requirement.follows_from):
            other = SUITE.requirements[cause]
            assert requirement.id not in (*other.restates, *other.follows_from, cause)
