"""The count behind `make official`: what the official suite calls passed is not always proved."""

import json
from pathlib import Path

import pytest

from interop.official import GENERIC_CHECK, Run, Tally, judge, read_tallies, table

RUN = Run("sample", ("--suite", "all"), scenarios=2, successes=3)
Checks = list[tuple[str, str]]
PROVED: Checks = [(GENERIC_CHECK, "SUCCESS"), ("ping", "SUCCESS")]


def tally(checks: Checks) -> Tally:
    result = Tally()
    for name, status in checks:
        result.add({"id": name, "status": status})
    return result


@pytest.mark.parametrize("extra", [[], [("ping", "SKIPPED"), ("ping", "INFO")]])
def test_a_run_conforms_when_each_scenario_proved_something(extra: Checks) -> None:
    assert judge(RUN, {"ping": tally(PROVED), "tools-list": tally(PROVED + extra)}) == []


@pytest.mark.parametrize(
    ("checks", "fault"),
    [
        ([("ping", "FAILURE")], "tools-list: FAILURE ping: no message"),
        ([("ping", "WARNING")], "tools-list: WARNING ping: no message"),
        ([("ping", "EXPLODED")], "tools-list: EXPLODED ping: no message"),
        ([(GENERIC_CHECK, "SUCCESS")], "tools-list: no SUCCESS about its subject"),
        ([("ping", "SKIPPED")], "tools-list: no SUCCESS about its subject"),
        ([], "tools-list: no SUCCESS about its subject"),
    ],
)
def test_a_scenario_that_failed_or_proved_nothing_spoils_the_run(checks: Checks, fault: str) -> None:
    tallies = {"ping": tally(PROVED + PROVED), "tools-list": tally(checks)}
    assert judge(RUN, tallies) == [fault]
    assert "does not conform" in table(RUN, tallies, [fault])


def test_too_few_scenarios_or_successes_spoil_the_run() -> None:
    assert judge(RUN, {"ping": tally(PROVED)}) == [
        "1 scenarios ran, expected 2",
        "2 SUCCESS checks, expected at least 3",
    ]


def test_checks_are_read_from_the_directories_of_the_suite(tmp_path: Path) -> None:
    directory = tmp_path / "server-json-schema-2020-12-2026-01-31T21-51-12-355Z"
    directory.mkdir()
    (directory / "checks.json").write_text(json.dumps([{"id": "found", "status": "SUCCESS"}]))
    assert read_tallies(tmp_path) == {"json-schema-2020-12": tally([("found", "SUCCESS")])}
