"""Four weeks that take no time."""

import pytest

from assay import Client, Server
from assay.testing import Answers, ManualClock
from tested_server import make_server


@pytest.fixture
def assay_server(assay_clock: ManualClock) -> Server:
    return make_server(clock=assay_clock)


async def test_a_book_is_overdue_after_four_weeks(
    assay_client: Client, assay_clock: ManualClock, assay_answers: Answers
) -> None:
    assay_answers.elicit({"name": "Ada"})
    await assay_client.call("lend", title="Emma")
    await assay_clock.sleep(28 * 24 * 3600)
    assert await assay_client.call_as(list[str], "overdue") == []
    await assay_clock.sleep(1)
    assert await assay_client.call_as(list[str], "overdue") == ["Emma"]
