"""Run all benchmarks and print the ratios: `python -m bench [--quick] [--strict] [--clients]`.

With `--clients`, only the clients are measured; their figures replace those of the stored result.

Exit codes: 0 measured, 1 a target was missed and `--strict` given, 3 could not run, 130 interrupted.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import IO, Final

from . import (
    client_load,
    http_load,
    machine,
    plot,
    profile_load,
    state_cost,
    stdio_load,
    token_cost,
    tool_count,
    wire_load,
)
from .process import TookTooLong, interrupt_on_termination, print_status
from .report import PAGES, write
from .request import HANDSHAKE_WIRE, PER_REQUEST_WIRE, Wire, WrongAnswer
from .result import STORED, Result, Sample, Spawns, load, store, with_clients
from .subject import ROOT, SUBJECTS, Subject, missing_environments
from .table import client_text, whole_text
from .target import CLIENT_TARGETS, TARGETS, judge

RESULTS: Final = ROOT / "results" / "bench"


@dataclass(frozen=True)
class Settings:
    """Durations and counts. Rounds are interleaved: each one measures every subject once."""

    rounds: int
    http_seconds: int
    http_warmup: int
    stdio_seconds: float
    more_spawns: int
    batches: int
    client_seconds: float
    starts: int


FULL: Final = Settings(
    rounds=3,
    http_seconds=6,
    http_warmup=2,
    stdio_seconds=2.0,
    more_spawns=5,
    batches=200,
    client_seconds=2.0,
    starts=10,
)
QUICK: Final = Settings(
    rounds=2,
    http_seconds=1,
    http_warmup=0,
    stdio_seconds=0.3,
    more_spawns=0,
    batches=50,
    client_seconds=0.3,
    starts=5,
)


class Run:
    """One run. It adds its measurements to `result`, and continues after a void one."""

    def __init__(self, result: Result, settings: Settings, log: IO[bytes]) -> None:
        self.result = result
        self.settings = settings
        self._log = log

    def clients(self) -> None:
        for number in range(self.settings.rounds):
            for wire in ("http", "stdio", "memory"):
                for caller in client_load.CALLERS if number % 2 == 0 else client_load.CALLERS[::-1]:
                    if wire in caller.wires:
                        self._client(caller, wire, number)
            for _ in range(self.settings.starts):
                self._starts()

    def everything(self) -> None:
        self.clients()
        for number in range(self.settings.rounds):
            # Every other round is reversed, so that no subject always runs on a machine warmed up by the same
            # one.
            subjects = SUBJECTS if number % 2 == 0 else SUBJECTS[::-1]
            for subject in subjects:
                self._http(subject, number, HANDSHAKE_WIRE)
                if subject.per_request:
                    self._http(subject, number, PER_REQUEST_WIRE)
            for subject in subjects:
                if subject.on_stdio:
                    self._stdio(subject, number)
            for connections in (1, wire_load.MANY):
                for wire in wire_load.WIRES if number % 2 == 0 else wire_load.WIRES[::-1]:
                    self._wire(wire, connections, number)
            for part in profile_load.PARTS if number % 2 == 0 else reversed(profile_load.PARTS):
                self._profile(part, number)
        with self._or_void("cost per number of tools"):
            self.result.tools_us = tool_count.measure(self.settings.batches, self._log)
        with self._or_void("cost of request state"):
            self.result.state_us = state_cost.measure(self.settings.batches, self._log)
        with self._or_void("cost of tokens"):
            self.result.token_us = token_cost.measure(self.settings.batches, self._log)

    def _http(self, subject: Subject, number: int, wire: Wire) -> None:
        seconds, warmup = self.settings.http_seconds, self.settings.http_warmup
        revision = ", 2026-07-28" if wire is PER_REQUEST_WIRE else ""
        title = f"round {number + 1}  http   {subject.label}{revision}"
        with self._or_void(title):
            sample = http_load.measure(subject, wire, number, seconds, warmup, self._log)
            self.result.samples_of(wire.name).setdefault(subject.name, []).append(sample)
            show(title, sample)

    def _wire(self, wire: str, connections: int, number: int) -> None:
        seconds, warmup = self.settings.http_seconds, self.settings.http_warmup
        title = f"round {number + 1}  {wire:<5}  Assay on its own server, {connections} at once"
        with self._or_void(title):
            sample = wire_load.measure(wire, connections, number, seconds, warmup, self._log)
            self.result.wires.setdefault(f"{wire} {connections}", []).append(sample)
            show(title, sample)

    def _profile(self, part: str, number: int) -> None:
        seconds, warmup = self.settings.http_seconds, self.settings.http_warmup
        title = f"round {number + 1}  serve  {profile_load.PARTS[part].label}"
        with self._or_void(title):
            sample = profile_load.measure(part, number, seconds, warmup, self._log)
            self.result.profile.setdefault(part, []).append(sample)
            show(title, sample)

    def _stdio(self, subject: Subject, number: int) -> None:
        title = f"round {number + 1}  stdio  {subject.label}"
        with self._or_void(title):
            measured = stdio_load.measure(subject, number, self.settings.stdio_seconds, self._log)
            more = [stdio_load.spawn_ms(subject, self._log) for _ in range(self.settings.more_spawns)]
            self.result.stdio.setdefault(subject.name, []).append(measured.pinned)
            self.result.stdio_free.setdefault(subject.name, []).append(measured.free)
            self.result.spawn.setdefault(subject.name, []).append(Spawns(number, [measured.start_ms, *more]))
            show(title, measured.pinned)

    def _client(self, caller: client_load.Caller, wire: str, number: int) -> None:
        title = f"round {number + 1}  client {wire}, {caller.label}"
        with self._or_void(title):
            samples = client_load.measure(caller, wire, number, self.settings.client_seconds, self._log)
            for kind, sample in samples.items():
                self.result.clients.setdefault(kind, {}).setdefault(caller.name, []).append(sample)
            rate, cpu_us = samples[wire].rate, samples[wire].cpu_us
            print_status(f"{title:<48} {rate:>9,.0f} calls/s {cpu_us:>7.1f} µs CPU")

    def _starts(self) -> None:
        with self._or_void("starting a client"):
            for name in client_load.IMPORTS:
                self.result.import_ms.setdefault(name, []).append(client_load.import_ms(name))
            own = stdio_load.spawn_ms(client_load.SERVER, self._log)
            self.result.listing_ms.append(client_load.listing_ms() - own)

    @contextmanager
    def _or_void(self, title: str) -> Iterator[None]:
        try:
            yield
        except (WrongAnswer, http_load.VoidFigure, TookTooLong, OSError) as error:
            print_status(f"{title}: void: {error}")
            self.result.voids.append(f"{' '.join(title.split())}: {error}")


def show(title: str, sample: Sample) -> None:
    figures = f"{sample.rate:>9,.0f} calls/s {sample.cpu_us:>7.1f} µs CPU {sample.rss_mb:>7.1f} MB"
    print_status(f"{title:<48} {figures}")


def run(settings: Settings, mode: str, *, only_clients: bool = False) -> Result:
    begin = time.perf_counter()
    started = datetime.now(UTC)
    stamp = started.strftime("%Y%m%dT%H%M%SZ")
    result = Result(
        mode=mode,
        started=started.strftime("%Y-%m-%d %H:%M UTC"),
        machine=machine.describe(),
        versions=machine.versions(),
        settings=asdict(settings),
    )
    RESULTS.mkdir(parents=True, exist_ok=True)
    watch = machine.Neighbours()
    with (RESULTS / f"{stamp}.log").open("wb") as log:
        measuring = Run(result, settings, log)
        measuring.clients() if only_clients else measuring.everything()
    result.machine["other_work"] = round(watch.share(), 3)
    result.seconds = time.perf_counter() - begin
    store(result, RESULTS / f"{stamp}.json")
    print_status(f"written: {(RESULTS / f'{stamp}.json').relative_to(ROOT)}")
    keep(result, only_clients=only_clients)
    return result


def keep(result: Result, *, only_clients: bool) -> None:
    """A full run without void measurements updates the documentation."""
    if result.mode == "full" and not result.voids:
        if only_clients:
            result = with_clients(load(), result)
        store(result, STORED)
        write(load(STORED), PAGES)  # the stored figures are rounded, and a test compares the pages with them
        written = (STORED, plot.PICTURE, *PAGES)
        print_status(f"written: {', '.join(str(path.relative_to(ROOT)) for path in written)}")


def missing_requirement(*, only_clients: bool) -> str | None:
    if shutil.which("wrk") is None and not only_clients:
        return "wrk is not installed: apt-get install wrk"
    missing = missing_environments(client_load.CALLERS if only_clients else SUBJECTS)
    if missing:
        return (
            f"not installed: {', '.join(str(path.relative_to(ROOT)) for path in missing)}; run `make bench`"
        )
    return None


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="less than a minute, and noisier")
    parser.add_argument("--strict", action="store_true", help="exit with 1 when a target is missed")
    parser.add_argument("--clients", action="store_true", help="only the clients")
    options = parser.parse_args()
    if (reason := missing_requirement(only_clients=options.clients)) is not None:
        print_status(f"error: {reason}")
        return 3
    interrupt_on_termination()
    try:
        settings, mode = (QUICK, "quick") if options.quick else (FULL, "full")
        result = run(settings, mode, only_clients=options.clients)
    except KeyboardInterrupt:
        print_status("interrupted")
        return 130
    print(client_text(result) if options.clients else whole_text(result))
    verdicts = judge(result, CLIENT_TARGETS if options.clients else TARGETS)
    missed = [verdict for verdict in verdicts if not verdict.passed]
    return 1 if missed and options.strict else 0


if __name__ == "__main__":
    sys.exit(main())
