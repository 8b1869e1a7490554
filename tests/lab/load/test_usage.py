"""Processes of a server: what they use, and whether it grows."""

import asyncio
import os
import sys

import pytest

from assay.lab.load.usage import MOST_SAMPLES, Usage, UsageWatch, listener_of, slope, usage_of

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")


def test_process_uses_memory_time_and_descriptors() -> None:
    usage = usage_of([os.getpid()])
    assert usage is not None
    assert usage.processes >= 1
    assert usage.rss > 2**20
    assert usage.cpu > 0
    assert (usage.fds or 0) > 2


def test_process_that_is_gone_uses_nothing() -> None:
    assert usage_of([2**22 + 1]) is None


async def test_process_is_found_by_the_port_that_it_listens_on() -> None:
    server = await asyncio.get_running_loop().create_server(asyncio.Protocol, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    assert listener_of(port) == os.getpid()
    server.close()


def test_slope_is_that_of_the_growth_and_not_of_a_peak() -> None:
    points = [(float(n), 1000.0 + 8 * n) for n in range(40)]
    assert slope(points) == pytest.approx(8)
    points[30] = (30.0, 1e9)
    assert slope(points) == pytest.approx(8)
    assert slope([(float(n), min(n, 5) * 100.0) for n in range(40)]) == 0
    assert slope(points[:10]) is None


def test_number_of_samples_is_bounded_in_a_long_run() -> None:
    watch = UsageWatch()
    for number in range(10_000):
        watch.add(number / 4, Usage(1, 2**20 + 64 * number, number / 8, 10 + number // 1000), number * 10)
    assert len(watch.samples) <= MOST_SAMPLES
    result = watch.result(100_000)
    assert result is not None
    assert result.leak == pytest.approx(6.4, rel=0.05)
    assert result.fd_leak == pytest.approx(0.0001, rel=0.3)
    assert result.cpu_share == pytest.approx(0.5, rel=0.05)
