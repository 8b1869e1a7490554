"""At a fixed rate, operations are due at their own times, not when the generator gets to them."""

from itertools import pairwise
from random import Random

from assay.lab.load.schedule import MOST_AT_ONCE, SECOND, OpenSchedule


def test_times_are_evenly_spaced() -> None:
    schedule = OpenSchedule(1000, 0, SECOND)
    due = [*schedule.due(SECOND // 2), *schedule.due(2 * SECOND)]
    assert due == [number * 1_000_000 for number in range(1000)]
    assert schedule.is_over


def test_pause_of_the_generator_does_not_shift_intended_times() -> None:
    schedule = OpenSchedule(100, 0, SECOND)
    assert list(schedule.due(0)) == [0]
    late = list(schedule.due(SECOND // 2))
    assert late[:3] == [10_000_000, 20_000_000, 30_000_000]
    assert len(late) == 50


def test_rounding_does_not_add_up() -> None:
    schedule = OpenSchedule(3, 0, 1000 * SECOND)
    assert list(schedule.due(1000 * SECOND))[-1] == int(2999 * SECOND / 3)


def test_one_step_starts_a_bounded_number() -> None:
    assert len(list(OpenSchedule(1e6, 0, SECOND).due(SECOND))) == MOST_AT_ONCE


def test_poisson_intervals_have_the_rate_and_vary() -> None:
    due = list(OpenSchedule(1000, 0, 5 * SECOND, random=Random(1)).due(5 * SECOND))
    gaps = {later - earlier for earlier, later in pairwise(due)}
    assert 4_500 < len(due) < 5_500
    assert len(gaps) > 1000
