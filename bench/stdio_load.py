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
    """The client's side of a server's standard input and output."""

    def __init__(self, child: subprocess.Popen[bytes]) -> None:
        assert child.stdin is not None and child.stdout is not None
        self.pid = child.pid
        self._to = child.stdin.fileno()
        self._from = child.stdout.fileno()

    def send(self, message: Any) -> None:
        os.write(self._to, json.dumps(message).encode() + b"\n")

    def receive(self) -> bytes:
        """Read one line. Nothing can follow it, because only one call is in progress."""
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
        """Call until time is up. Returns the nanoseconds of each call, and each answer."""
        write, receive, clock, to = os.write, self.receive, time.perf_counter_ns, self._to
        template = CALL.encode() + b"\n"
        durations: list[int] = []
        answers: list[bytes] = []
        begin = clock()
        end, number = begin + int(seconds * 1e9), first
        while begin < end:
            write(to, template % number)
            answers.append(receive())
            after = clock()
            durations.append(after - begin)
            begin = after
            number += 1
        return durations, answers


@contextmanager
def started(subject: Subject, log: IO[bytes]) -> Iterator[Pipes]:
    with running(subject.stdio_command(), log, pipes=True) as child:
        yield Pipes(child)


class Measurement(NamedTuple):
    """Samples with client and server on one core and without pinning, and the milliseconds to start."""

    pinned: Sample
    free: Sample
    start_ms: float


def measure(subject: Subject, number: int, seconds: float, log: IO[bytes]) -> Measurement:
    """
    Raises:
        WrongAnswer, TookTooLong: the measurement failed.
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
    return Measurement(pinned, free, start_ms)


def load(pipes: Pipes, number: int, seconds: float) -> Sample:
    watch, before = Stopwatch(pipes.pid), time.process_time()
    durations, answers = pipes.calls(seconds, first=WARMUP_CALLS)
    server_cpu, own_cpu = watch.cpu_share(), time.process_time() - before
    memory = rss_mb(pipes.pid)
    # Answers are checked after the measurement: checking costs the client more than calling.
    for offset, answer in enumerate(answers):
        expect_sum(answer, WARMUP_CALLS + offset)
    wall = sum(durations) / 1e9
    cuts = quantiles(durations, n=100)
    rate, share = len(durations) / wall, own_cpu / wall
    return Sample(number, rate, cuts[49] / 1e3, cuts[98] / 1e3, server_cpu, share, memory)


def warm_up(pipes: Pipes) -> None:
    for number in range(WARMUP_CALLS):
        pipes.send(json.loads(CALL % number))
        expect_sum(pipes.receive(), number)


def spawn_ms(subject: Subject, log: IO[bytes]) -> float:
    """Milliseconds from the start of the process to the answer to `initialize`."""
    begin = time.perf_counter()
    with started(subject, log) as pipes, time_limit(START_TIMEOUT, subject.name):
        pipes.initialize()
        return (time.perf_counter() - begin) * 1e3
