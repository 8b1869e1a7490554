"""Memory that grows without end is told from memory that fills up."""

import os
from collections.abc import Callable

import pytest

from assay.lab.fuzz.growth import Samples, resident

MIB = 1024 * 1024


def samples(size: Callable[[int], float]) -> Samples:
    taken = Samples()
    for number in range(100):
        taken.take(number * 50, int(size(number) * MIB))
    return taken


def test_steady_growth_is_told() -> None:
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
def test_anything_else_is_not(size: Callable[[int], float]) -> None:
    assert samples(size).growth() is None


def test_a_few_samples_prove_nothing() -> None:
    taken = Samples()
    for number in range(10):
        taken.take(number, number * 100 * MIB)
    assert taken.growth() is None


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="the kernel does not tell")
def test_a_process_has_a_size_and_one_that_is_gone_has_none() -> None:
    assert (resident(os.getpid()) or 0) > MIB
    assert resident(2**22 + 1) is None
