"""What a completion may say of its values."""

from typing import Any

import pytest

from tests.lab.everything.observing import broken
from tests.lab.everything.talking import talk

ROW = "completion-complete"


@pytest.mark.parametrize(
    ("completion", "sound"),
    [
        ({"values": []}, True),
        ({"values": ["a"], "total": 1, "hasMore": False}, True),
        ({"values": ["a"], "total": 2, "hasMore": True}, True),
        ({"values": ["a"], "total": 1, "hasMore": True}, True),
        ({"values": ["a"], "hasMore": True}, True),
        ({"values": ["a"], "total": 2, "hasMore": False}, False),
        ({"values": ["a", "b"], "total": 1}, False),
        ({"values": ["a", 1]}, False),
        ({"values": ["a"] * 100}, True),
        ({"values": ["a"] * 101}, False),
        ({"values": "a"}, False),
        ([], False),
    ],
)
def test_values_are_texts_and_counted_rightly(completion: Any, sound: bool) -> None:
    trace = talk(("completion/complete", {}, {"completion": completion}))
    assert broken(ROW, trace) == (set() if sound else {ROW})


def test_error_is_no_completion() -> None:
    assert broken(ROW, talk(("completion/complete", {}, {"code": -32601, "message": "no"}))) == {ROW}
