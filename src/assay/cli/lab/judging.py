"""From a run to output and an exit code: what `assay server` and `assay client` have in common."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import signal
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final, Protocol

import msgspec

from assay.cli.delivery import deliver
from assay.cli.exit_code import CommandFailed, ExitCode
from assay.lab.harness.catalogue import Suite
from assay.lab.harness.run.archive import Archive, CannotKeep, located
from assay.lab.harness.run.baseline import BadBaseline, Entry, compare, concerning, read_baseline
from assay.lab.harness.run.conclusion import Conclusion, conclude
from assay.lab.harness.run.event import Watch
from assay.lab.harness.run.plan import Selection, chosen, is_named
from assay.lab.harness.run.run import Place, Run
from assay.lab.harness.run.runner import SubjectDown
from assay.lab.harness.scenario import Role
from assay.lab.report.registry import formats, renderer
from assay.lab.suites import suite_named
from assay.revisions.registry import BY_DATE
from assay.revisions.revision import Revision

from .golden import golden_of
from .progress import progress

EXIT_CODES: Final[Mapping[Conclusion, ExitCode]] = {
    Conclusion.CONFORMS: ExitCode.OK,
    Conclusion.DOES_NOT_CONFORM: ExitCode.DOES_NOT_CONFORM,
    Conclusion.INCOMPLETE: ExitCode.INCOMPLETE,
    Conclusion.INTERRUPTED: ExitCode.INTERRUPTED,
}

LISTING: Final = {Role.SERVER: "assay list --suite {}", Role.CLIENT: "assay list --client"}


class Play(Protocol):
    """What a command plays: its options, understood, with all that is special to servers or to clients."""

    suite: Suite
    selection: Selection
    restarts: bool
    """Whether the subject is started by us, and thus anew after every change."""

    def steady(self) -> None:
        """Play so that what a trace holds does not depend on what else is selected."""

    async def prepare(self) -> None:
        """Whatever has to be there before the first scenario.

        Raises:
            CommandFailed: it is not to be had.
        """

    async def run(self, watch: Watch, archive: Archive, first: frozenset[Place] = frozenset()) -> Run:
        """
        Raises:
            SubjectDown: nothing can be judged.
        """

    def refusal(self, down: SubjectDown) -> CommandFailed: ...


async def judge(play: Play, options: argparse.Namespace) -> int:
    """Play it all once, store it, tell it."""
    render = renderer(wanted_format(options.format))
    golden = golden_of(options, play.suite)
    if golden is not None:
        play.steady()
    entries = baseline_of(options, play)
    archive = archive_at(options, play.suite.role)
    stop_on_request()
    await play.prepare()
    try:
        with progress(sys.stderr, play.suite.role) as watch:
            run = with_baseline(await play.run(watch, archive), entries)
        place = archive.finish(run)
    except SubjectDown as down:
        raise play.refusal(down) from down
    except CannotKeep as error:
        raise not_kept(error) from error
    deliver(render(for_eyes(run, place, options.format)), options.format, beside=place.parent)
    print(f"stored: {place}", file=sys.stderr)
    code = exit_code(run)
    return code if golden is None else golden.finish(run, place, code)


def exit_code(run: Run) -> ExitCode:
    """To select nothing for a subject that is there is wrong use, and says nothing of it."""
    conclusion = conclude(run)
    met = any(subject.facts for subject in run.subjects)
    nothing_selected = conclusion is Conclusion.INCOMPLETE and bool(run.problem) and met
    return ExitCode.USAGE if nothing_selected else EXIT_CODES[conclusion]


def not_kept(error: CannotKeep) -> CommandFailed:
    return CommandFailed(ExitCode.INCOMPLETE, str(error), "name another directory with --output")


def for_eyes(run: Run, place: Path, form: str) -> Run:
    """What people read names traces as they are found from here; files stay as they are stored."""
    return located(run, place.parent) if form in ("text", "html") else run


def stop_on_request() -> None:
    """SIGTERM and Ctrl-C end the run with what is known, and without leaving the server behind."""
    task, loop = asyncio.current_task(), asyncio.get_running_loop()
    assert task is not None

    def interrupt() -> None:
        """Once is enough: a second Ctrl-C would tear down what just ends in order."""
        loop.remove_signal_handler(signal.SIGINT)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        task.cancel()

    with contextlib.suppress(NotImplementedError, RuntimeError):  # not on Windows, not beside the main thread
        loop.add_signal_handler(signal.SIGTERM, task.cancel)
        loop.add_signal_handler(signal.SIGINT, interrupt)


def archive_at(options: argparse.Namespace, role: Role = Role.SERVER) -> Archive:
    try:
        options.output.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        problem = f"cannot keep results in {options.output}: {error.strerror}"
        raise CommandFailed(ExitCode.USAGE, problem, "name another directory with --output") from error
    return Archive(options.output, role)


def with_baseline(run: Run, entries: list[Entry]) -> Run:
    compared = compare(run, entries)
    return msgspec.structs.replace(run, expected=compared.expected, stale=compared.stale)


def baseline_of(options: argparse.Namespace, play: Play) -> list[Entry]:
    """What the file expects of the scenarios that are played."""
    if options.baseline is None:
        return []
    role = play.suite.role.value
    try:
        entries = read_baseline(options.baseline, role)
    except BadBaseline as error:
        raise CommandFailed(ExitCode.USAGE, str(error), f"see `assay {role} --help`") from error
    every = suite_named(play.suite.name).scenarios.values()
    return concerning(entries, chosen(play.suite.scenarios.values(), play.selection), every)


def wanted_format(name: str) -> str:
    if name not in formats():
        raise CommandFailed(ExitCode.USAGE, f"unknown format: {name}", f"one of {', '.join(formats())}")
    return name


def check_named(patterns: list[str], suite: Suite) -> None:
    """A misspelt name beside a right one must not go unnoticed: what it meant would not be judged."""
    every = suite.scenarios.values()
    unknown = [one for one in patterns if not any(is_named(scenario, one) for scenario in every)]
    if unknown:
        hint = f"`{LISTING[suite.role].format(suite.name)}` shows all"
        raise CommandFailed(ExitCode.USAGE, f"no such scenario: {', '.join(unknown)}", hint)


def revision_of(date: str) -> Revision:
    if date not in BY_DATE:
        raise CommandFailed(ExitCode.USAGE, f"unknown revision: {date}", f"one of {', '.join(BY_DATE)}")
    return BY_DATE[date]
