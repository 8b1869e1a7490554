"""The frozen lists: any change is detected."""

import pytest

from assay.certify import profile_list
from assay.certify.profile_list import INTELGRAPH, BadProfile, MeasuredBy, newest, read, shipped
from assay.lab.suites import suite_named

FROZEN = {
    "intelgraph/2025-10": "fe201ba9e3545cc762d71440b268336ed79ceee5e195cbf8c4cd64d5368ed273",
    "intelgraph/2026-11": "ce690ec8174935b1928fa49d088bac4accc486eaae4b881c91c74d1a487f9ff2",
}
EDITIONS = tuple(FROZEN)


def test_the_lists_have_not_changed() -> None:
    """Published evidence refers to these bytes: add a new list instead of changing one."""
    assert profile_list.known_digests() == FROZEN


def test_demands_judged_by_traces_are_the_requirements_of_the_suite() -> None:
    demanded = {
        demand.id
        for edition in EDITIONS
        for demand in shipped(edition).demands
        if demand.by is MeasuredBy.TRACES
    }
    assert demanded == set(suite_named("marketplace").requirements)


@pytest.mark.parametrize("edition", EDITIONS)
def test_recommendations_are_not_scored(edition: str) -> None:
    rows = suite_named("marketplace").requirements
    for demand in shipped(edition).demands:
        if demand.by is MeasuredBy.TRACES:
            binding = any(level.binding for level in rows[demand.id].levels.values())
            assert demand.scored == binding, demand.id


@pytest.mark.parametrize("edition", EDITIONS)
def test_transports_match_those_of_the_checks(edition: str) -> None:
    demands = {item.id: set(item.transports) for item in shipped(edition).demands}
    for check in suite_named("marketplace").checks.values():
        for row in check.requirements:
            assert row not in demands or {str(item) for item in check.transports} & demands[row], row


def test_every_measurement_has_limits_and_every_later_demand_of_the_first_edition_is_measured() -> None:
    demands = {demand.id: demand for demand in shipped(INTELGRAPH).demands}
    for demand in demands.values():
        assert bool(demand.limit) == (demand.by is MeasuredBy.MEASUREMENT), demand.id
    later = [demand.id for demand in shipped(EDITIONS[0]).demands if demand.by is MeasuredBy.LATER]
    assert {demands[name].by for name in later} == {MeasuredBy.MEASUREMENT}


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xff",
        b'id = "x"',
        shipped(INTELGRAPH).data + b'\nextra = "1"\n',
        shipped(INTELGRAPH).data.replace(b'by = "traces"', b'by = "luck"', 1),
        shipped(INTELGRAPH).data.replace(b"CONF-TPT-01.stdio.load", b"CONF-TPT-01.stdio.framing", 1),
    ],
)
def test_an_invalid_profile_is_refused(data: bytes) -> None:
    with pytest.raises(BadProfile, match="not a profile"):
        read(data)


def test_the_error_for_an_unknown_profile_lists_the_known_ones() -> None:
    with pytest.raises(BadProfile, match=f"unknown profile: other; choose one of {', '.join(EDITIONS)}"):
        shipped("other")


def test_a_name_without_a_date_is_the_newest_list() -> None:
    assert newest("intelgraph").id == INTELGRAPH
    assert newest(INTELGRAPH).id == INTELGRAPH
    with pytest.raises(BadProfile, match="unknown profile: intel;"):
        newest("intel")
