"""Comments of event streams are recognised."""

import pytest

from assay.lab.harness.links.http import has_comment


@pytest.mark.parametrize(
    ("block", "has"),
    [
        (b": ping\n\n", True),
        (b":\r\n\r\n", True),
        (b"id: 1\n: still here\ndata: x\n\n", True),
        (b"data: : not one\n\n", False),
        (b"data: x\n\n", False),
    ],
)
def test_comment_is_a_line_that_begins_with_a_colon(block: bytes, has: bool) -> None:
    assert has_comment(block) is has
