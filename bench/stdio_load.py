"""stdio: one client, one call at a time, on bare pipes."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from statistics import quantiles
from typing import IO, Any, Final, NamedTuple

from .process import Stopwatch, on_one_core, rss_mb, running, time_limit
from .request import CALL, INITIALIZE, INITIALIZED, WrongAnswer, expect_sum
from .result import Sample
from .subject import Subject

START_TIMEOUT: Final = 60.0
READ_SIZE: Final = 65536
WARMUP_CALLS: Final = 50


class Pipes:
    """The client's ends of a server's standard input and output."""

    def __init__(self, child: subprocess.Popen[bytes]) -> None:
        assert child.stdin is not None and child.stdout is not None
        self.pid = child.pid
        self._to = child.stdin.fileno()
        self._from = child.stdout.fileno()

    def send(self, message: Any) -> None:
        os.write(self._to, json.dumps(message).encode() + b"\n")

    def receive(self) -> bytes:
        """One line; with one call under way at a time nothing can follow it."""
        data = os.read(self._from, READ_SIZE)
        while data and not data.endswith(b"\n"):
            more = os.read(self._from, READ_SIZE)
            data = data + more if more else b""
        if not data:
            raise WrongAnswer("the server closed its output")
        return data

    def initialize(self) -> None:
        self.send(INITIALIZE)
        answer = json.loads(self.receive())
        if answer.get("id") != INITIALIZE["id"] or "result" not in answer:
            raise WrongAnswer(f"initialize failed: {answer}")

    def calls(self, seconds: float, *, first: int) -> tuple[list[int], list[bytes]]:
        """Call until time is up: how many nanoseconds each call took, and each answer."""
        write, receive, clock, to = os.write, self.receive, time.perf_counter_ns, self._to
        template = CALL.encode() + b"\n"
        took: list[int] = []
        answers: list[bytes] = []
        begin = clock()
        end, number = begin + int(seconds * 1e9), first
        while begin < end:
            write(to, template % number)
            answers.append(receive())
            after = clock()
            took.append(after - begin)
            begin = after
            number += 1
        return took, answers


@contextmanager
def started(subject: Subject, log: IO[bytes]) -> Iterator[Pipes]:
    with running(subject.stdio_command(), log, pipes=True) as child:
        yield Pipes(child)


class Measured(NamedTuple):
    """On one core, as the scheduler likes it, and the milliseconds that it took to start."""

    pinned: Sample
    free: Sample
    start_ms: float


def measure(subject: Subject, number: int, seconds: float, log: IO[bytes]) -> Measured:
    """
    Raises:
        WrongAnswer, TookTooLong: there is no figure.
    """
    begin = time.perf_counter()
    with started(subject, log) as pipes, time_limit(START_TIMEOUT + 2 * seconds, subject.name):
        pipes.initialize()
        start_ms = (time.perf_counter() - begin) * 1e3
        pipes.send(INITIALIZED)
        warm_up(pipes)
        free = load(pipes, number, seconds)
        with on_one_core(pipes.pid):
            pinned = load(pipes, number, seconds)
    return Measured(pinned, free, start_ms)


def load(pipes: Pipes, number: int, seconds: float) -> Sample:
    watch, before = Stopwatch(pipes.pid), time.process_time()
    took, answers = pipes.calls(seconds, first=WARMUP_CALLS)
    server_cpu, own_cpu = watch.cpu_share(), time.process_time() - before
    memory = rss_mb(pipes.pid)
    # Every answer is looked at, but only now: looking would have cost the client more than calling.
    for offset, answer in enumerate(answers):
        expect_sum(answer, WARMUP_CALLS + offset)
    wall = sum(took) / 1e9
    cuts = quantiles(took, n=100)
    rate, share = len(took) / wall, own_cpu / wall
    return Sample(number, rate, cuts[49] / 1e3, cuts[98] / 1e3, server_cpu, share, memory)


def warm_up(pipes: Pipes) -> None:
    for number in range(WARMUP_CALLS):
        pipes.send(json.loads(CALL % number))
        expect_sum(pipes.receive(), number)


def spawn_ms(subject: Subject, log: IO[bytes]) -> float:
    """Milliseconds from the spawn to the answer to `initialize`."""
    begin = time.perf_counter()
    with started(subject, log) as pipes, time_limit(START_TIMEOUT, subject.name):
        pipes.initialize()
        return (time.perf_counter() - begin) * 1e3
