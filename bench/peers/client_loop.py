"""The loop of every client program: `client_<name>.py '{"transport": …, "target": …, "core": …}'`.

The program connects, calls a few times, and prints a line. Each line that it then reads is a number of
seconds to call for and how many calls to make at once; it answers with its figures as a line of JSON.
"""

import asyncio
import json
import os
import sys
import time
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

Call = Callable[[], Awaitable[Any]]
Open = Callable[[str, Any], AbstractAsyncContextManager[Call]]
WARMUP = 300
# The form of the sum depends on the revision.
SUMS = (3, {"result": 3})


def run(connected: Open) -> None:
    task = json.loads(sys.argv[1])
    # Before a server on stdio is started, which inherits it.
    os.sched_setaffinity(0, {task["core"]})
    asyncio.run(serve(connected, task))


async def serve(connected: Open, task: dict[str, Any]) -> None:
    async with connected(task["transport"], task["target"]) as call:
        await until(call, lambda number: number >= WARMUP, [])
        print("ready", flush=True)
        for line in sys.stdin:
            seconds, at_once = line.split()
            print(json.dumps(await load(call, float(seconds), int(at_once))), flush=True)


async def load(call: Call, seconds: float, at_once: int) -> dict[str, Any]:
    durations: list[int] = []
    cpu, begin = time.process_time(), time.perf_counter_ns()
    end = begin + int(seconds * 1e9)
    callers = (until(call, lambda _: time.perf_counter_ns() >= end, durations) for _ in range(at_once))
    await asyncio.gather(*callers)
    wall = time.perf_counter_ns() - begin
    durations.sort()
    count = len(durations)
    return {
        "rate": count / wall * 1e9,
        "p50_us": durations[count // 2] / 1e3,
        "p99_us": durations[count * 99 // 100] / 1e3,
        "cpu_us": (time.process_time() - cpu) / count * 1e6,
    }


async def until(call: Call, is_over: Callable[[int], bool], durations: list[int]) -> None:
    """Call, one after the other, and note the nanoseconds of each call."""
    number, clock = 0, time.perf_counter_ns
    while not is_over(number):
        begin = clock()
        answer = await call()
        durations.append(clock() - begin)
        if answer not in SUMS:
            raise AssertionError(f"1 + 2 is not {answer!r}")
        number += 1
