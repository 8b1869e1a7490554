"""The suite of the profile is whole: its parts fit together, and into the other suites."""

from collections import Counter

from assay.lab.harness.catalogue import Suite
from assay.lab.harness.requirement import Requirement
from assay.lab.marketplace.declaration import BOTH
from assay.lab.suites import every_suite, suite_named
from assay.revisions.registry import REVISIONS
from tests.meta.tree import expect_none

SUITE = suite_named("marketplace")


def judged_rows(suite: Suite) -> set[str]:
    return {row for check in suite.checks.values() for row in check.requirements}


def owed() -> list[Requirement]:
    """Rows that have no reason to have no check."""
    return [row for row in SUITE.requirements.values() if not row.reason]


def test_every_row_has_a_check_or_a_reason() -> None:
    cited = judged_rows(SUITE)
    expect_none(f"{row.id} has neither a check nor a reason" for row in owed() if row.id not in cited)


def test_every_row_has_a_saboteur_or_a_reason() -> None:
    broken = {saboteur.breaks for saboteur in SUITE.saboteurs.values()}
    expect_none(f"{row.id}: no saboteur breaks it" for row in owed() if row.id not in broken)


def test_every_row_belongs_to_one_check_under_its_own_name() -> None:
    count = Counter(row for check in SUITE.checks.values() for row in check.requirements)
    expect_none(f"{row} is judged by {found} checks" for row, found in count.items() if found != 1)
    expect_none(
        f"{check.id} gives no result by row" for check in SUITE.checks.values() if not check.by_requirement
    )


def test_scenarios_keep_to_the_transports_of_the_profile() -> None:
    expect_none(
        f"{one.id} is played on {', '.join(sorted(one.transports - BOTH))}"
        for one in SUITE.scenarios.values()
        if not one.transports <= BOTH
    )


def test_every_check_is_exercised_by_a_scenario() -> None:
    exercised = {name for scenario in SUITE.scenarios.values() for name in scenario.exercises}
    expect_none(f"no scenario exercises {name}" for name in SUITE.checks if name not in exercised)


def test_plain_scenario_is_played_everywhere_and_needs_nothing() -> None:
    plain = SUITE.scenarios[SUITE.plain]
    assert plain.transports == BOTH
    assert not plain.needs
    assert all(map(plain.window, REVISIONS))


def test_no_scenario_has_the_name_of_one_in_another_suite() -> None:
    """A stored trace is judged by the suite that has its scenario, among those about the same role."""
    count = Counter((suite.role, name) for suite in every_suite() for name in suite.scenarios)
    expect_none(f"{name} is in {found} suites" for (_, name), found in count.items() if found != 1)
