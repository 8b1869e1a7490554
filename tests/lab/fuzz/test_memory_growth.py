"""Unbounded growth of memory is distinguished from a cache that fills up."""

import os
from collections.abc import Callable

import pytest

from assay.lab.fuzz.memory_growth import MemorySamples
from assay.lab.harness.subject.process_tree import resident

MIB = 1024 * 1024


def samples(size: Callable[[int], float]) -> MemorySamples:
    samples = MemorySamples()
    for number in range(100):
        samples.add(number * 50, int(size(number) * MIB))
    return samples


def test_steady_growth_is_reported() -> None:
    growth = samples(lambda number: 50 + number).growth()
    assert growth is not None
    assert "after the warm-up" in str(growth)


@pytest.mark.parametrize(
    "size",
    [
        lambda number: 50 + min(number, 60),  # a cache that is full in the end
        lambda number: 50 + (200 if 40 < number < 60 else 0),  # one peak
        lambda number: 50 + number * 0.1,  # too little to be sure
        lambda number: 1000 + number,  # too little of what there is
        lambda number: 50 + (100 if number < 20 else 200),  # warming up
    ],
)
def test_other_changes_are_not_reported(size: Callable[[int], float]) -> None:
    assert samples(size).growth() is None


def test_few_samples_prove_nothing() -> None:
    few = MemorySamples()
    for number in range(10):
        few.add(number, number * 100 * MIB)
    assert few.growth() is None


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="needs /proc")
def test_process_has_a_size_until_it_exits() -> None:
    assert (resident(os.getpid()) or 0) > MIB
    assert resident(2**22 + 1) is None
