"""The same as in `tests/client`, for longer."""

from __future__ import annotations

import pytest

from assay.revisions.registry import REVISIONS
from tests.client.mutation import converse


@pytest.mark.parametrize("revision", [None, *(revision.date for revision in REVISIONS)])
async def test_answers_that_are_wrong_in_some_part_end_in_errors_of_the_client(revision: str | None) -> None:
    opened = [await converse(seed, revision) for seed in range(1000, 1250)]
    assert opened.count(True) > len(opened) / 4
