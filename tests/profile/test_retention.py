"""Retention tiers, and what sets them."""

from __future__ import annotations

from typing import Any

import pytest

from assay import RegistrationError
from assay.cli.options import profile as profile_option
from assay.profile.keys import RETENTION
from assay.profile.retention import DEFAULT, TIERS, Retention, tier_in


def test_the_command_line_knows_the_same_tiers() -> None:
    assert profile_option.TIERS == TIERS


def test_the_first_glob_that_fits_decides_and_else_the_default() -> None:
    retention = Retention(DEFAULT, {"file:///private/*": "short-30d", "file:///*": "extended-730d"})
    tiers = [retention.by_uri(uri) for uri in ("file:///private/a/b", "file:///public", "log://a")]
    assert tiers == ["short-30d", "extended-730d", DEFAULT]


def test_a_meta_may_name_a_tier() -> None:
    assert tier_in({RETENTION: {"tier": "legal-hold"}}, "it") == "legal-hold"
    assert (tier_in(None, "it"), tier_in({}, "it"), tier_in({"other": 1}, "it")) == (None, None, None)


@pytest.mark.parametrize("named", ["legal-hold", {}, {"tier": "for-ever"}, {"tier": 30}, None, {"tier": []}])
def test_a_meta_that_names_no_tier_is_refused(named: Any) -> None:
    with pytest.raises(RegistrationError, match=r"^resource a: .*(standard-365d)"):
        tier_in({RETENTION: named}, "resource a")


@pytest.mark.parametrize("arguments", [("for-ever", {}), (DEFAULT, {"*": "for-ever"})])
def test_a_tier_that_does_not_exist_is_refused(arguments: tuple[str, dict[str, str]]) -> None:
    with pytest.raises(RegistrationError, match="unknown retention tier: 'for-ever'; use one of short-30d"):
        Retention(*arguments)
