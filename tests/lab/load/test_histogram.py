"""Percentiles are those of the sorted values, within the precision, and the size is bounded."""

from random import Random

import pytest

from assay.lab.load.histogram import HIGHEST, Histogram


def filled(values: list[int]) -> Histogram:
    histogram = Histogram()
    for value in values:
        histogram.record(value)
    return histogram


@pytest.mark.parametrize("seed", range(5))
def test_percentiles_are_at_most_a_thousandth_above_the_true_ones(seed: int) -> None:
    random = Random(seed)
    values = [int(random.lognormvariate(13, 3)) for _ in range(5_000)]
    histogram, ordered = filled(values), sorted(values)
    for share in (0.1, 50, 90, 99, 99.9, 100):
        exact = ordered[max(0, -(-int(share * 10) * len(values) // 1000) - 1)]
        assert exact <= histogram.percentile(share) <= exact * (1 + 1 / 1024)
    assert (histogram.lowest, histogram.highest) == (ordered[0], ordered[-1])


def test_small_values_are_exact() -> None:
    assert filled(list(range(1, 101))).percentiles((1, 50, 99, 100)) == [1, 50, 99, 100]


def test_empty_histogram_has_no_latency() -> None:
    assert Histogram().percentiles((50, 99)) == [0, 0]


def test_merging_is_recording_in_one() -> None:
    first, second = filled([1, 50_000, 3_000_000]), filled([7, 50_000])
    first.merge(second)
    assert first.buckets() == filled([1, 50_000, 3_000_000, 7, 50_000]).buckets()
    assert first.count == 5


def test_stored_histogram_has_the_same_percentiles() -> None:
    histogram = filled([123, 45_678, 9_876_543_210])
    stored = Histogram.of(histogram.buckets())
    assert stored.percentiles((10, 50, 100)) == histogram.percentiles((10, 50, 100))


def test_number_of_buckets_is_bounded_whatever_is_recorded() -> None:
    random = Random(1)
    histogram = filled([random.randrange(-5, 2 ** random.randrange(1, 80)) for _ in range(50_000)])
    assert len(histogram.buckets()) < 36_000
    assert histogram.highest == HIGHEST


def test_values_certainly_above_a_limit_are_counted() -> None:
    assert filled([1, 2, 30_000_000, 40_000_000]).above(20_000_000) == 2


@pytest.mark.parametrize("buckets", [{"-1": 1}, {"5": 0}, {"x": 1}])
def test_invalid_stored_buckets_are_refused(buckets: dict[str, int]) -> None:
    with pytest.raises(ValueError):
        Histogram.of(buckets)
