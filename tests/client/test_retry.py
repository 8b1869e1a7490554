"""The policy for further attempts, without a clock and without chance."""

from __future__ import annotations

from typing import Any

import pytest

from assay import ConnectionFailed, HttpFailure, InvalidAnswer, Retry, ServerDied
from assay.client.retry import Backoff, demanded_pause, may_pass, may_repeat


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def unsent() -> ConnectionFailed:
    failure = ConnectionFailed("closed port")
    failure.unsent = True
    return failure


def status(number: int, **headers: str) -> HttpFailure:
    return HttpFailure("http://x", number, "", {key.replace("_", "-"): headers[key] for key in headers})


def test_pauses_grow_up_to_the_longest() -> None:
    policy = Retry(first=1, factor=3, longest=20, jitter=lambda: 0.0)
    assert [policy.pause(number) for number in range(5)] == [1, 3, 9, 20, 20]
    assert policy.pause(10_000) == 20


def test_chance_shortens_a_pause_by_up_to_a_half() -> None:
    assert Retry(first=1, jitter=lambda: 1.0).pause(0) == 0.5
    pauses = {Retry(first=1).pause(0) for _ in range(50)}
    assert len(pauses) > 1
    assert all(0.5 <= pause <= 1 for pause in pauses)


def test_attempts_end_before_the_deadline() -> None:
    clock = Clock()
    backoff = Backoff(Retry(first=1, factor=2, jitter=lambda: 0.0), 8, clock)
    pauses = []
    while (pause := backoff.next()) is not None:
        pauses.append(pause)
        clock.now += pause
    assert pauses == [1, 2, 4]


def test_a_pause_that_the_server_demands_is_respected_within_the_deadline() -> None:
    backoff = Backoff(Retry(first=1, jitter=lambda: 0.0), 30, Clock())
    assert backoff.next(12.0) == 12.0
    assert backoff.next(31.0) is None


def test_a_deadline_of_zero_allows_no_further_attempt() -> None:
    assert Backoff(Retry(), 0, Clock()).next() is None


@pytest.mark.parametrize(
    ("error", "always", "idempotent", "opening"),
    [
        (unsent(), True, True, True),
        (ConnectionFailed("reset"), False, True, False),
        (ServerDied("x", 1), False, True, True),
        (status(503), False, True, True),
        (status(429), False, True, True),
        (status(500), False, False, False),
        (status(401), False, False, False),
        (InvalidAnswer("x"), False, False, False),
    ],
)
def test_only_what_cannot_have_had_an_effect_is_repeated(
    error: Any, always: bool, idempotent: bool, opening: bool
) -> None:
    assert may_repeat(error, idempotent=False) is always
    assert may_repeat(error, idempotent=True) is idempotent
    assert may_pass(error) is opening


@pytest.mark.parametrize(
    ("text", "seconds"), [("3", 3.0), ("", 0.0), ("soon", 0.0), ("-1", 0.0), ("9" * 5000, 0.0), ("٣", 0.0)]
)
def test_the_pause_of_the_server_is_read_within_limits(text: str, seconds: float) -> None:
    assert demanded_pause(status(503, retry_after=text)) == seconds


@pytest.mark.parametrize("name", ["opening", "deadline", "first", "longest", "restarts", "settled"])
def test_numbers_must_not_be_negative(name: str) -> None:
    values: dict[str, Any] = {name: -1}
    with pytest.raises(ValueError, match=f"Retry.{name} must not be negative"):
        Retry(**values)


def test_pauses_must_not_shrink() -> None:
    with pytest.raises(ValueError, match=r"Retry\.factor must be at least 1"):
        Retry(factor=0.5)
