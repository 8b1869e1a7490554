"""A rate that the generator could not hold is not reported."""

import pytest

from assay.lab.load.histogram import Histogram
from assay.lab.load.saturation import CpuMeter, CpuUse, saturation


def lag(*milliseconds: float) -> Histogram:
    histogram = Histogram()
    for value in milliseconds:
        histogram.record(int(value * 1e6))
    return histogram


ON_TIME = lag(*[0.1] * 100)


@pytest.mark.parametrize(
    ("use", "rate", "asked", "delays", "floor", "part"),
    [
        (CpuUse(10, 9.8, 0.0), 20_000, None, lag(), None, "busy for 98%"),
        (CpuUse(10, 4.0, 5.8), 20_000, None, lag(), None, "waited 58% for a core"),
        (CpuUse(10, 5.0, None), 19_000, None, lag(), 20_000, "95% of what the generator can do"),
        (CpuUse(10, 5.0, None), 1000, 1000, lag(*[0.1] * 95, *[30.0] * 5), None, "could not hold 1000"),
    ],
)
def test_saturated_generator_is_named(
    use: CpuUse, rate: float, asked: float | None, delays: Histogram, floor: float | None, part: str
) -> None:
    assert part in saturation(use, rate, asked=asked, lag=delays, floor_rate=floor)


@pytest.mark.parametrize(
    ("use", "rate", "asked", "delays", "floor"),
    [
        (CpuUse(10, 5.0, 1.0), 5_000, None, lag(), 20_000),
        (CpuUse(10, 9.9, 0.0), 5_000, 5_000, ON_TIME, 5_100),  # it held what was asked for
        (CpuUse(10, 5.0, None), 1000, 1000, lag(*[0.1] * 1000, 500.0), None),  # one pause
    ],
)
def test_generator_with_room_reports(
    use: CpuUse, rate: float, asked: float | None, delays: Histogram, floor: float | None
) -> None:
    assert saturation(use, rate, asked=asked, lag=delays, floor_rate=floor) == ""


def test_meter_counts_the_cpu_time_of_this_process() -> None:
    meter = CpuMeter()
    sum(range(200_000))
    use = meter.read()
    assert use.cpu > 0 and use.seconds > 0
