"""Live traffic on the terminal: a line with figures that is kept up to date, and findings above it."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from assay.cli.exit_code import ExitCode
from assay.lab.tap.follower import SeenFinding, Status
from assay.lab.tap.http_relay import HttpRelay
from assay.lab.tap.options import TapOptions
from assay.lab.tap.run import Tap, tap_http, tap_stdio
from assay.lab.tap.stdio_relay import exit_like
from assay.model.visible import visible

from .stream import say, say_over

INTERVAL: Final = 1.0
COLLECT: Final = 20_000
"""Objects between two collections."""
MOST_SHOWN: Final = 100
"""Findings; the report has all."""


class View:
    """Findings once each, as they come. Called from the thread that reads the judgement."""

    def __init__(self, *, quiet: bool) -> None:
        self._quiet = quiet
        self._count = 0
        self._problem = ""
        self._lock = threading.Lock()
        self._line = ""

    def watch(self, status: Status) -> None:
        for finding in status.new:
            self._count += 1
            if self._count <= MOST_SHOWN:
                self.say(*_lines(finding))
            if self._count == MOST_SHOWN:
                self.say("more findings are in the report")
        if status.problem and status.problem != self._problem:
            self._problem = status.problem
            self.say(f"problem: {status.problem}")

    def say(self, *lines: str) -> None:
        if self._quiet:
            return
        with self._lock, contextlib.suppress(OSError, ValueError):  # the host may have closed the stream
            if self._line:
                say_over("")
            for line in lines:
                say(line)
            if self._line:
                say_over(self._line)

    def show(self, line: str) -> None:
        """Show the figures; only a terminal can show them in one place."""
        if self._quiet or not sys.stderr.isatty() or line == self._line:
            return
        with self._lock:
            say_over(line)
            self._line = line

    def end(self) -> None:
        if self._line:
            with self._lock:
                say("")
                self._line = ""


def _lines(finding: SeenFinding) -> Iterator[str]:
    broken = finding.level.startswith(("MUST", "implied MUST"))
    kind = "FAILURE" if broken else "WARNING"
    yield f"{kind} {finding.side}: {visible(finding.title)} ({finding.requirement}, {finding.level})"
    yield f"  observed: {visible(finding.observed)}"
    yield f"  frame {finding.frame} of {finding.trace}"


def figures(tap: Tap, connections: int | None = None) -> str:
    """What is known, in one line."""
    last = tap.last
    parts = [] if connections is None else [f"{connections} connections"]
    parts += [f"{tap.capture.frames} frames", f"{last.exchanges} exchanges"]
    if last.exchanges:
        parts.append(f"p50 {last.p50 * 1000:.1f} ms, p99 {last.p99 * 1000:.1f} ms")
    if tap.capture.options.judge:
        parts.append(f"{last.failures} failures, {last.warnings} warnings, {tap.lag} frames to judge")
    if tap.capture.removed:
        parts.append(f"{tap.capture.removed} traces removed")
    return " | ".join(parts)


def _ending(tap: Tap, view: View, connections: int | None = None) -> None:
    view.say(f"tap: {figures(tap, connections)}", f"report: assay report {tap.directory}")
    if tap.capture.failed:
        view.say(f"problem: not everything was recorded: {tap.capture.failed}")


async def show_http(
    url: str,
    options: TapOptions,
    listen: tuple[str, int],
    ca: Path | None,
    *,
    quiet: bool,
    check: bool,
) -> int:
    view = View(quiet=quiet)
    gc.freeze()  # what is loaded stays: looking through it again and again would delay bytes
    gc.set_threshold(COLLECT)
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        with contextlib.suppress(NotImplementedError):
            loop.add_signal_handler(number, stopped.set)
    async with tap_http(url, options, host=listen[0], port=listen[1], ca=ca, watch=view.watch) as (
        tap,
        relay,
    ):
        view.say(f"tap: {relay.url} → {visible(url)}", f"stored: {tap.directory}")
        await _until(stopped, tap, relay, view)
        view.end()
    _ending(tap, view, relay.connections)
    if not check:
        return ExitCode.OK
    if not tap.last.done or tap.capture.failed:
        return ExitCode.INCOMPLETE
    return ExitCode.DOES_NOT_CONFORM if tap.last.failures else ExitCode.OK


async def _until(stopped: asyncio.Event, tap: Tap, relay: HttpRelay, view: View) -> None:
    problems, failed = 0, ""
    while not stopped.is_set():
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(stopped.wait(), INTERVAL)
        if relay.problems > problems:
            problems = relay.problems
            view.say(
                f"unreadable: {visible(relay.problem)} ({problems} connections; passed on, not recorded)"
            )
        if tap.capture.failed and tap.capture.failed != failed:
            failed = tap.capture.failed
            view.say(f"problem: not recorded: {visible(failed)}")
        view.show(figures(tap, len(relay.pairs)))


def show_stdio(command: Sequence[str], options: TapOptions, *, quiet: bool) -> int:
    """Nothing but the server's bytes goes to standard output."""
    view = View(quiet=quiet)
    taps: list[Tap] = []

    def began(tap: Tap) -> None:
        taps.append(tap)
        view.say(f"assay tap: stored in {tap.directory}")

    status = tap_stdio(command, options, began, view.watch)
    _ending(taps[0], view)
    return exit_like(status)
