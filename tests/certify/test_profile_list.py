"""The frozen lists: any change is detected."""

import pytest

from assay.certify import profile_list
from assay.certify.profile_list import INTELGRAPH, BadProfile, MeasuredBy, newest, read, shipped
from assay.lab.suites import suite_named

FROZEN = "fe201ba9e3545cc762d71440b268336ed79ceee5e195cbf8c4cd64d5368ed273"


def test_the_list_has_not_changed() -> None:
    """Published evidence refers to these bytes: add a new list instead of changing this one."""
    assert profile_list.known_digests() == {INTELGRAPH: FROZEN}


def test_demands_judged_by_traces_are_the_requirements_of_the_suite() -> None:
    demanded = {demand.id for demand in shipped(INTELGRAPH).demands if demand.by is MeasuredBy.TRACES}
    assert demanded == set(suite_named("marketplace").requirements)


def test_recommendations_are_not_scored() -> None:
    rows = suite_named("marketplace").requirements
    for demand in shipped(INTELGRAPH).demands:
        if demand.by is MeasuredBy.TRACES:
            binding = any(level.binding for level in rows[demand.id].levels.values())
            assert demand.scored == binding, demand.id


def test_transports_match_those_of_the_checks() -> None:
    demands = {item.id: set(item.transports) for item in shipped(INTELGRAPH).demands}
    for check in suite_named("marketplace").checks.values():
        for row in check.requirements:
            assert {str(item) for item in check.transports} & demands[row], row


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
    with pytest.raises(BadProfile, match=f"unknown profile: other; choose one of {INTELGRAPH}"):
        shipped("other")


def test_a_name_without_a_date_is_the_newest_list() -> None:
    assert newest("intelgraph").id == INTELGRAPH
    assert newest(INTELGRAPH).id == INTELGRAPH
    with pytest.raises(BadProfile, match="unknown profile: intel;"):
        newest("intel")
