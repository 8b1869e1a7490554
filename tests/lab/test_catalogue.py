"""The catalogue: ids, to which stored runs, baselines and certificates refer, and titles of findings."""

from __future__ import annotations

import pytest

from assay.lab.suites import SHIPPED, suite_named
from scripts import catalogue


def test_every_part_of_every_suite_is_as_the_checked_in_catalogue_says() -> None:
    frozen = set(catalogue.FILE.read_text("utf-8").splitlines())
    loaded = set(catalogue.lines())

    # After an intended change: python -m scripts.catalogue
    assert sorted(frozen - loaded) == []
    assert sorted(loaded - frozen) == []


def test_no_part_is_in_the_checked_in_catalogue_twice() -> None:
    frozen = catalogue.FILE.read_text("utf-8").splitlines()

    assert len(frozen) == len({tuple(line.split()[:3]) for line in frozen})


@pytest.mark.parametrize("name", SHIPPED)
def test_every_requirement_that_a_check_cites_has_a_fault_as_title_of_its_findings(name: str) -> None:
    suite = suite_named(name)

    untitled = [
        (check.id, requirement)
        for check in suite.checks.values()
        for requirement, fault in check.requirements.items()
        if not fault and not suite.requirements[requirement].fault
    ]

    assert untitled == []
