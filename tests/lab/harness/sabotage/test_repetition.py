from __future__ import annotations

import pytest

from assay.lab.harness.sabotage.repetition import fixed_part


@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("http://localhost:3000/mcp", "http://localhost:3000"),
        ("http://localhost:3000", "http://localhost:3000"),
        ("/home/user/ci0/bin/python /srv/v2/pipe.py 4000", "/home/user/ci0/bin/python /srv/v2/pipe.py 4000"),
    ],
)
def test_part_of_a_name_that_a_line_repeats(name: str, part: str) -> None:
    assert fixed_part(name) == part
