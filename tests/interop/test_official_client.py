"""The official suite on the everything client: which runs there are, and how they count."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

from interop.official import Tally, judge
from interop.official_client import RUN, Case, by_scenario, read_cases, read_tally

LIST = """Client scenarios (test against a client):
  - tools_call [2025-11-25,2026-07-28]
  - auth/dpop [extension]
"""


def proved(*statuses: str) -> Tally:
    return Tally(Counter(statuses), proved=True)


def test_a_scenario_runs_at_every_listed_revision() -> None:
    cases = list(read_cases(LIST.splitlines()))
    assert [case.options for case in cases] == [
        ("--scenario", "tools_call", "--spec-version", "2025-11-25"),
        ("--scenario", "tools_call", "--spec-version", "2026-07-28"),
        ("--scenario", "auth/dpop"),
    ]


def test_a_scenario_has_the_checks_of_all_its_revisions() -> None:
    tallies = by_scenario({Case("a", "1"): proved("SUCCESS"), Case("a", "2"): proved("SUCCESS", "INFO")})
    assert tallies["a"].counts == Counter(SUCCESS=2, INFO=1)
    assert judge(RUN, tallies) == [
        "1 scenarios ran, expected 48",
        f"2 SUCCESS checks, expected at least {RUN.successes}",
    ]


def test_a_revision_that_proves_nothing_is_a_fault() -> None:
    tallies = by_scenario({Case("a", "1"): proved("SUCCESS"), Case("a", "2"): Tally()})
    assert tallies["a"].complaints == ["2: no SUCCESS about its subject"]


def test_warnings_and_a_failed_client_are_faults(tmp_path: Path) -> None:
    checks = tmp_path / "checks.json"
    checks.write_text(json.dumps([{"id": "a", "status": "SUCCESS"}, {"id": "b", "status": "WARNING"}]))
    assert read_tally([checks], "").complaints == ["WARNING b: no message"]
    checks.write_text(json.dumps([{"id": "a", "status": "SUCCESS"}]))
    assert read_tally([checks], "the program ended with code 1").complaints == [
        "the program ended with code 1"
    ]
    assert read_tally([checks], "").complaints == []
