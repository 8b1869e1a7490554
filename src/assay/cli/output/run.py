"""A run on the terminal: progress while it lasts, then the report, where it is stored, and the exit code."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import sys
from collections.abc import Callable
from pathlib import Path

from assay.cli.exit_code import CONCLUSIONS, CommandFailed, ExitCode
from assay.lab.error import CannotJudge
from assay.lab.golden_run import GoldenResult
from assay.lab.harness.run.archive import located
from assay.lab.harness.run.conclusion import Conclusion, conclude
from assay.lab.harness.run.history import with_history
from assay.lab.harness.run.run import Run
from assay.lab.live_run import LiveRun
from assay.lab.report.registry import renderer

from .delivery import deliver
from .golden import golden_lines
from .progress import progress
from .stream import emit_lines, say, say_lines


async def show_run(live: LiveRun, form: str, interrupt: Callable[[], None] | None = None) -> int:
    """Show a run until it ends. `interrupt` handles Ctrl-C in place of stopping the run.

    Raises:
        LabError: nothing was judged.
    """
    renderer(form)  # a format that does not exist is reported before anything runs
    with progress(sys.stderr, live.suite.role) as watch:
        async with live:
            on_signal(live.interrupt, interrupt)
            async for event in live:
                watch(event)
    run = live.result
    show_report(run, live.path, form)
    code = exit_code(run)
    try:
        golden = live.golden
    except CannotJudge as error:
        raise CommandFailed(code, error.problem, error.fix) from error
    return code if golden is None else _show_golden(golden, run, live.path, form, code)


def show_report(run: Run, path: Path | None, form: str) -> None:
    """Print the report, and below it where the run is stored and which command shows it again."""
    home = Path() if path is None else path.parent
    deliver(renderer(form)(for_reading(run, home, form)), form, beside=home)
    if path is not None:
        say(f"stored: {path}")
        say(f"report: assay report {home} --format html")


def for_reading(run: Run, home: Path, form: str) -> Run:
    """For people, with earlier runs, and traces named from the working directory; files for programs stay as
    they are stored."""
    if form == "markdown":
        return with_history(run, home)
    return with_history(located(run, home), home) if form in ("text", "html") else run


def exit_code(run: Run) -> ExitCode:
    """To select nothing of a subject that is there is a mistake in the options."""
    conclusion = conclude(run)
    is_there = any(subject.facts for subject in run.subjects)
    problem = bool(run.problem) and not run.expired
    nothing_selected = conclusion is Conclusion.INCOMPLETE and problem and is_there
    return ExitCode.USAGE if nothing_selected else CONCLUSIONS[conclusion.value]


def _show_golden(golden: GoldenResult, run: Run, path: Path | None, form: str, code: ExitCode) -> ExitCode:
    assert path is not None  # a golden run needs stored traces
    if golden.recorded:
        say(f"golden: {golden.recorded} scenario runs recorded in {golden.golden.directory}")
    elif run.interrupted or run.expired:
        return code
    if not golden.recorded or golden.comparison.differs:
        lines = golden_lines(golden.comparison, golden.golden, path.parent)
        # Standard output belongs to the report, unless people read both.
        emit_lines(lines) if form == "text" or golden.recorded else say_lines(lines)
    return ExitCode.DOES_NOT_CONFORM if golden.comparison.differs else code


def on_signal(stop: Callable[[], object], interrupt: Callable[[], None] | None = None) -> None:
    """SIGTERM and Ctrl-C stop the run: what is known is reported, and no process is left behind."""
    loop = asyncio.get_running_loop()

    def pressed() -> None:
        # A second Ctrl-C would tear down what is just ending in order.
        loop.remove_signal_handler(signal.SIGINT)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        stop()

    with contextlib.suppress(
        NotImplementedError, RuntimeError
    ):  # not on Windows, nor outside the main thread
        loop.add_signal_handler(signal.SIGTERM, stop)
        loop.add_signal_handler(signal.SIGINT, interrupt or pressed)
