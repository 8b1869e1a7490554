"""The registry of revisions, and version negotiation."""

from __future__ import annotations

import pytest

from assay.revisions.registry import ASSUMED, BY_DATE, DATES, HANDSHAKE, REVISIONS
from assay.revisions.revision import Opening
from assay.revisions.served import EVERY

NEWEST = "2025-11-25"


def test_handshake_revisions_are_the_four_oldest_first() -> None:
    assert [revision.date for revision in HANDSHAKE] == ["2024-11-05", "2025-03-26", "2025-06-18", NEWEST]


def test_every_revision_is_found_by_its_date() -> None:
    assert (list(BY_DATE), list(BY_DATE.values())) == (list(DATES), list(REVISIONS))


def test_revisions_are_in_order_of_time() -> None:
    assert list(DATES) == sorted(DATES)


@pytest.mark.parametrize("date", ["2024-11-05", "2025-03-26", "2025-06-18", NEWEST])
def test_requested_revision_is_agreed_on(date: str) -> None:
    assert EVERY.negotiate(date) is BY_DATE[date]


@pytest.mark.parametrize("date", ["2099-01-01", "2024-10-07", "1.0", "", "2025-06-18 ", "latest"])
def test_unknown_revision_is_answered_with_the_newest_that_shakes_hands(date: str) -> None:
    assert getattr(EVERY.negotiate(date), "date", None) == NEWEST


def test_revision_without_a_handshake_is_never_negotiated() -> None:
    later = [revision.date for revision in REVISIONS if revision.opening is not Opening.HANDSHAKE]
    assert {getattr(EVERY.negotiate(date), "date", None) for date in [*later, "2026-07-28"]} == {NEWEST}


def test_request_without_a_clue_is_taken_for_the_first_of_streamable_http() -> None:
    """basic/transports#protocol-version-header"""
    assert ASSUMED.date == "2025-03-26"
