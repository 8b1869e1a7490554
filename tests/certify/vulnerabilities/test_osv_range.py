"""Ranges and lists of versions, evaluated as the OSV schema defines."""

import pytest

from assay.certify.vulnerabilities.osv_export import Affected, Event, Range
from assay.certify.vulnerabilities.osv_range import first_fix, is_affected
from assay.certify.vulnerabilities.version_order import ORDERS

ORDER = ORDERS["PyPI"]


def ranged(*events: tuple[str, str], kind: str = "ECOSYSTEM") -> Affected:
    return Affected(ranges=[Range(kind, [Event(**{name: version}) for name, version in events])])


SINCE_1_UNTIL_2 = ranged(("introduced", "1.0"), ("fixed", "2.0"))
TWICE = ranged(("introduced", "2.0"), ("fixed", "2.3"), ("introduced", "0"), ("fixed", "1.5"))
UP_TO_1_5 = ranged(("introduced", "0"), ("last_affected", "1.5"))
ONLY_1_5 = ranged(("introduced", "1.5"), ("last_affected", "1.5"))
EVER = ranged(("introduced", "0"))
LIMITED = ranged(("introduced", "1.0"), ("limit", "2.0"))
UNLIMITED = ranged(("introduced", "1.0"), ("limit", "*"))
LISTED = Affected(versions=["1.0", "1.5.0", "not-a-version"])
NPM_LIKE = ranged(("introduced", "1.0.0-beta.2"), ("fixed", "1.0.0"), kind="SEMVER")


@pytest.mark.parametrize(
    ("affected", "inside", "outside"),
    [
        (SINCE_1_UNTIL_2, "1.0 1.9.9 2.0rc1", "0.9 1.0rc1 2.0 2.0.1"),
        (TWICE, "0.1 1.4 2.0 2.2.9", "1.5 1.9 2.3 3.0"),
        (UP_TO_1_5, "0.0.1 1.5 1.5.0", "1.5.1 1.5.post1 2.0"),
        (ONLY_1_5, "1.5", "1.4 1.6"),
        (EVER, "0 0.1 99", ""),
        (LIMITED, "1.0 1.9", "0.9 2.0"),
        (UNLIMITED, "1.0 99", "0.9"),
        (LISTED, "1.0 1.0.0 1.5 not-a-version", "1.1"),
        (NPM_LIKE, "1.0.0-beta.2 1.0.0-beta.11 1.0.0-rc.1", "1.0.0-beta.1 1.0.0 1.0.0-alpha"),
    ],
)
def test_which_versions_are_affected(affected: Affected, inside: str, outside: str) -> None:
    assert [version for version in inside.split() if not is_affected(affected, version, ORDER)] == []
    assert [version for version in outside.split() if is_affected(affected, version, ORDER)] == []


@pytest.mark.parametrize(
    ("affected", "version", "fix"),
    [
        (SINCE_1_UNTIL_2, "1.1", "2.0"),
        (TWICE, "1.0", "1.5"),
        (TWICE, "2.1", "2.3"),
        (UP_TO_1_5, "1.0", None),
        (EVER, "1.0", None),
        (LISTED, "not-a-version", None),
    ],
)
def test_the_first_fix(affected: Affected, version: str, fix: str | None) -> None:
    assert first_fix(affected, version, ORDER) == fix


def test_a_fix_that_another_range_affects_does_not_count() -> None:
    wide, narrow = (
        ranged(("introduced", "0"), ("fixed", "3.0")),
        ranged(("introduced", "1.0"), ("fixed", "1.5")),
    )
    both = Affected(ranges=[*(wide.ranges or ()), *(narrow.ranges or ())])
    assert first_fix(both, "1.2", ORDER) == "3.0"


@pytest.mark.parametrize(
    ("affected", "version"),
    [
        (SINCE_1_UNTIL_2, "not-a-version"),
        (ranged(("introduced", "not-a-version")), "1.0"),
        (ranged(("introduced", "0"), kind="GIT"), "1.0"),
        (Affected(), "1.0"),
    ],
)
def test_versions_and_ranges_that_cannot_be_compared(affected: Affected, version: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        is_affected(affected, version, ORDER)
