"""The verdict on an attack: what an ordinary client and the server's memory must show."""

import pytest

from bench.hostile.__main__ import Round, misses, row
from bench.hostile.attack import PLANS

PLAN = PLANS["brackets"]
GOOD = {
    "sent": 10,
    "refused": 10,
    "empty": 0,
    "share": 0.9,
    "slowest": 0.1,
    "memory": 5.0,
    "peak": 8.0,
    "session_alive": True,
    "failures": [],
}


def rounds(**changed: object) -> list[Round]:
    return [Round(**{**GOOD, **changed})]  # type: ignore[arg-type]


def test_an_attack_without_effect_is_no_miss() -> None:
    assert list(misses(PLAN, rounds())) == []


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"share": 0.4}, "less than 50% of its calls"),
        ({"memory": 70.0}, "more than 60 MB"),
        ({"session_alive": False}, "lost its session"),
        ({"empty": 1}, "claimed success without content"),
        ({"failures": ["503 b''"]}, "a call of the ordinary client failed: 503"),
    ],
)
def test_what_an_attack_achieves_is_a_miss(changed: dict[str, object], words: str) -> None:
    (line,) = misses(PLAN, rounds(**changed))
    assert words in line


def test_calls_must_not_wait_behind_abandoned_ones() -> None:
    assert list(misses(PLANS["abandoned-calls"], rounds(slowest=0.9))) == []
    (line,) = misses(PLANS["abandoned-calls"], rounds(slowest=1.1))
    assert "took more than 1 s" in line


def test_bodies_in_progress_stay_within_the_bytes_in_flight() -> None:
    assert list(misses(PLANS["unfinished-bodies"], rounds(peak=250.0))) == []
    (line,) = misses(PLANS["unfinished-bodies"], rounds(peak=300.0))
    assert "used more than 256 MB" in line


def test_a_row_has_the_medians_and_the_worst() -> None:
    cells = row(PLAN, [*rounds(), *rounds(share=0.8, memory=9.0), *rounds(share=0.7, session_alive=False)])
    assert cells == [PLAN.title, "10", "10", "0.80", "0.10 s", "9 MB", "8 MB", "2 of 3", "0"]
