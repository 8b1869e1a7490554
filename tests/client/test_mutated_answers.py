"""Answers of a server that are wrong in any part end in a `ClientError`."""

from __future__ import annotations

import pytest

from assay.revisions.registry import HANDSHAKE
from tests.client.mutation import converse


@pytest.mark.parametrize("revision", [None, HANDSHAKE[-1].date])
async def test_answers_that_are_wrong_in_some_part_end_in_errors_of_the_client(revision: str | None) -> None:
    opened = [await converse(seed, revision) for seed in range(30)]
    assert any(opened)
