"""Agreement with the official suite: which verdicts are equal, and that every difference is explained."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from assay.bundled.everything import server as everything
from assay.bundled.everything.task import TASK_TOOLS
from assay.lab.harness.verdict import Outcome, Verdict
from assay.lab.suites import suite_named
from interop.agreement.explanation import Explanation, Explanations
from interop.agreement.page import page, terminal
from interop.agreement.record import (
    ABSENT,
    NOTHING,
    Pair,
    Record,
    Seconds,
    SubjectResult,
    SuiteVerdict,
    official_verdict,
    our_verdict,
    our_verdicts,
    pairs,
)
from interop.agreement.server_run import compare_server as start
from interop.agreement.server_run import run_command
from interop.agreement.side import CLIENTS, Side
from interop.agreement.side import SERVERS as SERVER_SIDE
from interop.agreement.table import PEERS
from interop.official import GENERIC_CHECK, Aborted, Tally
from tests.lab.runs import REVISION, cell, run_of
from tests.meta.tree import expect_none

FIXTURES = json.loads((PEERS / "everything.json").read_text("utf-8"))
SERVERS = SERVER_SIDE.fixtures
RECORD = SERVER_SIDE.record()
SIDES = [SERVER_SIDE, CLIENTS]


def tally(*checks: tuple[str, str]) -> Tally:
    tally = Tally()
    for name, status in checks:
        tally.add({"id": name, "status": status, "errorMessage": "port 4711"})
    return tally


def pair(official: str = "passed", ours: str = "failed", scenario: str = "ping") -> Pair:
    return Pair(scenario, REVISION, SuiteVerdict(official), SuiteVerdict(ours, ["FAILURE ping", "<b> | c"]))


def judged(*pairs: Pair, server: str = "minimcp") -> SubjectResult:
    return SubjectResult(server, "1.0", Seconds(10.0, 65, 4.0, 65, 86), list(pairs))


def explanation(
    official: str = "passed",
    ours: str = "failed",
    scenarios: Sequence[str] = ("ping",),
    servers: Sequence[str] = ("minimcp",),
    revisions: Sequence[str] = (),
) -> Explanations:
    explanation = Explanation("d1", [*servers], [*scenarios], official, ours, "It is so.", [*revisions])
    return Explanations([explanation])


@pytest.mark.parametrize(
    ("checks", "verdict"),
    [
        ((("ping", "SUCCESS"), (GENERIC_CHECK, "SUCCESS")), "passed"),
        ((("ping", "SUCCESS"), (GENERIC_CHECK, "FAILURE")), "failed"),
        ((("ping", "SUCCESS"), ("other", "WARNING")), "passed with warnings"),
        ((("ping", "FAILURE"), ("other", "WARNING")), "failed"),
        (((GENERIC_CHECK, "SUCCESS"),), NOTHING),
        ((("ping", "SKIPPED"), ("other", "INFO")), NOTHING),
        ((), NOTHING),
    ],
)
def test_the_official_verdict_is_what_its_checks_prove(
    checks: Sequence[tuple[str, str]], verdict: str
) -> None:
    assert official_verdict(tally(*checks)).verdict == verdict


def test_what_the_official_suite_complained_of_is_kept_without_ports_and_times() -> None:
    assert official_verdict(tally(("b", "WARNING"), ("a", "FAILURE"))).because == ["FAILURE a", "WARNING b"]


def test_our_verdict_names_the_checks_that_found_something_or_the_reason() -> None:
    failed = cell("ping", ("ping", Verdict.FAILURE), ("wire-schema-valid", Verdict.SUCCESS))
    assert our_verdict(failed) == SuiteVerdict("failed", ["FAILURE ping"])
    skipped = cell("ping", outcome=Outcome.NOT_APPLICABLE)
    assert our_verdict(skipped) == SuiteVerdict("not applicable", ["not applicable: a reason"])


def test_our_verdicts_are_those_of_one_revision_under_official_names() -> None:
    run = run_of(
        cell("ping", ("ping", Verdict.SUCCESS), official="ping"),
        cell("tools-list", ("tools-list", Verdict.SUCCESS), official="tools-list"),
    )
    assert list(our_verdicts(run, REVISION)) == ["ping", "tools-list"]
    assert our_verdicts(run, "another") == {}


def test_a_scenario_that_only_the_official_suite_runs_is_a_difference() -> None:
    (compared,) = pairs(REVISION, {"ping": SuiteVerdict("passed")}, {"tools-list": SuiteVerdict("passed")})
    assert compared.ours.verdict == ABSENT
    assert not compared.agrees


@pytest.mark.parametrize(
    ("official", "ours", "agrees"),
    [
        ("passed", "passed", True),
        (NOTHING, "not applicable", True),
        (NOTHING, "incomplete", False),
        (NOTHING, "passed", False),
        ("passed", "not applicable", False),
        ("passed", "passed with warnings", False),
        ("failed", "not applicable", False),
    ],
)
def test_verdicts_agree_when_they_claim_the_same(official: str, ours: str, agrees: bool) -> None:
    assert pair(official, ours).agrees is agrees


def test_an_explained_difference_is_not_a_breach() -> None:
    assert list(explanation().breaches([judged(pair())])) == []
    assert list(explanation(scenarios=["p*"], revisions=[REVISION]).breaches([judged(pair())])) == []


def test_an_unexplained_difference_is_a_breach() -> None:
    (breach,) = Explanations([]).breaches([judged(pair())])
    assert "unexplained difference: ping" in breach


def test_an_explanation_of_other_verdicts_explains_nothing_and_is_stale() -> None:
    problems = list(explanation(ours="incomplete").breaches([judged(pair())]))
    assert ["unexplained difference" in problems[0], "does not differ" in problems[1]] == [True, True]


@pytest.mark.parametrize(
    "stale",
    [
        explanation(scenarios=["ping", "tools-list"]),
        explanation(scenarios=["ping", "tools-*"]),
        explanation(servers=["minimcp", "assay"]),
        explanation(revisions=[REVISION, "another"]),
    ],
)
def test_every_part_of_an_explanation_must_be_needed(stale: Explanations) -> None:
    (breach,) = stale.breaches([judged(pair()), judged(server="assay")])
    assert "which does not differ that way" in breach


def test_explanations_of_servers_that_were_not_judged_are_left_alone() -> None:
    assert list(explanation(servers=["assay"]).breaches([judged(pair("passed", "passed"))])) == []


def test_the_page_links_a_difference_to_its_explanation_and_marks_one_without() -> None:
    result = judged(pair(), pair("failed", "passed", "tools-list"), pair("passed", "passed", "prompts-list"))
    text = page(Record("suite 1", [result]), SERVER_SIDE, explanation())
    assert "| ping | [d1](#d1) |" in text
    assert "| tools-list | **?** |" in text
    assert "| prompts-list | ✓ |" in text
    assert f"| minimcp 1.0 | {REVISION} | 3 | 1 | 2 |" in text
    assert "It is so." in text


def test_the_page_shows_the_time_of_both_suites_on_our_server_and_no_markup_of_servers() -> None:
    results = [judged(pair()), judged(pair(), server="assay")]
    text = page(Record("suite 1", results), SERVER_SIDE, explanation())
    assert "| Assay 1.0 | 65 scenarios in 10.0 s | 65 scenarios, 86 with revisions, in 4.0 s | 0.40 |" in text
    assert "&lt;b> \\| c" in text


def test_the_terminal_has_both_verdicts_of_every_scenario_side_by_side() -> None:
    lines = terminal(judged(pair(), pair("passed", "passed", "tools-list"))).splitlines()
    assert lines[0] == f"  ≠ {REVISION} ping        passed | failed"
    assert lines[2] == "  1 the same, 1 different"


@pytest.mark.parametrize(
    ("side", "name"), [(side, name) for side in SIDES for name in side.fixtures if name != "assay"]
)
def test_every_fixture_of_the_tables_is_there_and_pinned(side: Side, name: str) -> None:
    program = side.fixtures[name].line({"peers": str(PEERS), "environments": "", "node": "node"})[-1]
    assert Path(program).is_file()
    assert side.fixtures[name].version()


def test_the_fixtures_for_other_sdks_are_those_of_our_everything_server() -> None:
    of_extensions = {tool.__name__ for tool in TASK_TOOLS}
    ours = {tool.name for tool in everything.tools.list()} - of_extensions
    assert {tool["name"] for tool in FIXTURES["tools"]} == ours
    prompts = {prompt["name"] for prompt in FIXTURES["prompts"]}
    assert prompts == {prompt.name for prompt in everything.prompts.list()}


def test_every_server_was_judged_at_its_pinned_version_by_every_official_scenario() -> None:
    known = {result.subject: result for result in RECORD.judged}
    assert {name: result.version for name, result in known.items()} == {
        name: server.version() for name, server in SERVERS.items()
    }
    official = {pair.scenario for pair in known["assay"].pairs}
    assert official == {scenario.official for scenario in suite_named("everything").scenarios.values()}


def test_every_client_was_judged_at_its_pinned_version_by_every_official_scenario() -> None:
    known = {result.subject: result for result in CLIENTS.record().judged}
    assert {name: result.version for name, result in known.items()} == {
        name: client.version() for name, client in CLIENTS.fixtures.items()
    }
    for result in known.values():
        official = {pair.scenario for pair in result.pairs}
        ours = {scenario.official for scenario in suite_named("client").scenarios.values()} - {None}
        assert official == ours


@pytest.mark.parametrize("side", SIDES, ids=lambda side: side.word)
def test_every_difference_of_the_record_is_explained_and_no_explanation_is_stale(side: Side) -> None:
    expect_none(side.explanations.breaches(side.record().judged))


@pytest.mark.parametrize("side", SIDES, ids=lambda side: side.word)
def test_the_page_is_what_the_record_and_the_explanations_make_of_it(side: Side) -> None:
    assert side.page.read_text("utf-8") == page(side.record(), side, side.explanations)


async def test_a_command_that_finds_faults_is_still_waited_for(tmp_path: Path) -> None:
    assert await run_command([sys.executable, "-c", "raise SystemExit(1)"], tmp_path / "log") > 0


@pytest.mark.parametrize("end", ["raise SystemExit(70)", "import os; os.abort()"])
async def test_a_command_that_broke_ends_the_comparison(end: str, tmp_path: Path) -> None:
    with pytest.raises(Aborted, match="ended with code"):
        await run_command([sys.executable, "-c", end], tmp_path / "log")


async def test_a_server_that_is_not_installed_is_named_with_the_next_step(tmp_path: Path) -> None:
    with pytest.raises(Aborted, match=r"minimcp is not installed: .* run `make agreement`"):
        await start(SERVERS["minimcp"], Path("node"), tmp_path, tmp_path)
