"""Scenarios about clients by group."""

import pytest

from assay.lab.client.groups import GROUPS, groups, narrowed
from assay.lab.suites import suite_named

SUITE = suite_named("client")


def test_official_scenarios_are_all_there_in_two_parts() -> None:
    official, core, extensions = (
        set(narrowed(SUITE, name).scenarios) for name in ("official", "core", "extensions")
    )
    assert len(official) == 48
    assert core | extensions == official and not core & extensions
    assert len(extensions) == 10


def test_every_area_is_a_group_and_no_group_is_empty() -> None:
    areas = {one.area for one in SUITE.scenarios.values()}
    assert areas <= set(groups(SUITE))
    assert all(narrowed(SUITE, name).scenarios for name in groups(SUITE))
    for area in areas - GROUPS.keys():
        assert {one.area for one in narrowed(SUITE, area).scenarios.values()} == {area}


def test_unknown_group_is_none() -> None:
    with pytest.raises(KeyError):
        narrowed(SUITE, "no-such-group")
