"""The suite has the official scenarios, all of them and no others, under their names, ids and revisions."""

import json
from pathlib import Path
from typing import Any

import pytest

from assay.lab.harness.run.plan import Selection, selected
from assay.lab.suites import suite_named
from tests.meta.tree import expect_none

SUITE = suite_named("everything")
OFFICIAL: dict[str, Any] = json.loads(Path(__file__).with_name("official_ids.json").read_text("utf-8"))
SCENARIOS: dict[str, dict[str, list[str]]] = OFFICIAL["scenarios"]
LEFT_OUT: dict[str, str] = OFFICIAL["left_out"]


def rows_of(scenario: str) -> list[str]:
    return SUITE.sought(SUITE.scenarios[scenario])


def test_list_is_that_of_the_official_suite() -> None:
    ids = {name for scenario in SCENARIOS.values() for name in scenario["ids"]}
    assert (len(SCENARIOS), len(ids)) == (65, 234)


def test_scenarios_have_the_official_names() -> None:
    assert set(SUITE.scenarios) == set(SCENARIOS)


def test_every_official_id_is_a_row_or_left_out_for_a_reason() -> None:
    expect_none(
        f"{name}: {id} is neither judged nor left out"
        for name, scenario in SCENARIOS.items()
        if name in SUITE.scenarios
        for id in scenario["ids"]
        if id not in rows_of(name) and not LEFT_OUT.get(id)
    )
    expect_none(
        f"{name}: {row} is no official id of it"
        for name in SUITE.scenarios
        for row in rows_of(name)
        if row not in SCENARIOS[name]["ids"] or row in LEFT_OUT
    )


def test_scenarios_are_played_at_the_official_revisions() -> None:
    played = {
        name: {date for row in rows_of(name) for date in SUITE.requirements[row].levels}
        for name in SUITE.scenarios
    }
    expect_none(
        f"{name}: {sorted(dates)} instead of {SCENARIOS[name]['revisions']}"
        for name, dates in played.items()
        if dates != set(SCENARIOS[name]["revisions"])
    )


@pytest.mark.parametrize(
    ("pattern", "some", "count"),
    [
        ("sse-polling", "server-sse-polling", 1),
        ("sse-multiple-streams", "server-sse-multiple-streams", 1),
        ("session-lifecycle", "server-session-lifecycle", 1),
        ("sse-*", "server-sse-polling", 2),
        ("tools-*", "tools-list", 11),
        ("resources-*", "resources-subscribe", 6),
        ("prompts-*", "prompts-get-simple", 5),
        ("logging-*", "logging-set-level", 1),
        ("ping", "ping", 1),
        ("tasks-*", "tasks-lifecycle", 10),
        ("input-required-result-*", "input-required-result-multi-round", 14),
    ],
)
def test_shorter_names_and_globs_choose_scenarios(pattern: str, some: str, count: int) -> None:
    found = [one.id for one in selected(SUITE.scenarios.values(), Selection(scenarios=(pattern,)))]
    assert some in found
    assert len(found) == count
