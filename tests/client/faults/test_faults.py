"""Every row of the table happens, with real sockets and processes, and the page shows the same rows."""

from __future__ import annotations

import pytest

from scripts.client_faults_page import PAGE, page
from tests.client.faults.row import Fault
from tests.client.faults.table import SECTIONS

pytestmark = pytest.mark.waits

ROWS = [
    pytest.param(row, id=f"{transport}: {row.fault}") for transport, rows in SECTIONS.items() for row in rows
]


@pytest.mark.parametrize("row", ROWS)
async def test_the_caller_sees_what_the_table_says(row: Fault) -> None:
    outcome = await row.run()
    assert type(outcome.error) is (row.error or type(None)) or _is_private(outcome.error, row), outcome.error
    assert row.text in str(outcome.error or "")
    assert not isinstance(outcome.error, BaseExceptionGroup)
    assert outcome.state is row.state
    assert outcome.following == row.following


def _is_private(error: BaseException | None, row: Fault) -> bool:
    """Whether the error is of a subclass that only the client itself distinguishes."""
    return type(error).__name__ == "SessionGone" and row.error in type(error).__mro__


def test_the_page_is_up_to_date() -> None:
    """To update it, run `python -m scripts.client_faults_page`."""
    assert page() == PAGE.read_text("utf-8")


def test_the_table_has_no_row_twice() -> None:
    assert sum(len(rows) for rows in SECTIONS.values()) >= 30
    for rows in SECTIONS.values():
        assert len({row.fault for row in rows}) == len(rows)
