"""How `assay server` turns its options into a run, and a run into output and an exit code."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import msgspec

from assay.cli.delivery import deliver
from assay.cli.exit_code import CommandFailed, ExitCode
from assay.cli.suite import FUZZ, suite_of
from assay.lab.harness.archive import Archive, CannotKeep, located
from assay.lab.harness.baseline import BadBaseline, Entry, compare, concerning, read_baseline
from assay.lab.harness.broken_off import Gone, NoToken
from assay.lab.harness.catalogue import Suite
from assay.lab.harness.conclusion import Conclusion, conclude
from assay.lab.harness.plan import Selection, chosen, is_named
from assay.lab.harness.playing import Conditions
from assay.lab.harness.run import Run, redacted
from assay.lab.harness.runner import Order, Runner, SubjectDown
from assay.lab.harness.scenario import Role
from assay.lab.report.registry import formats, renderer
from assay.revisions.registry import BY_DATE
from assay.revisions.revision import Revision

from .golden import golden_of, steady
from .progress import progress
from .subjects import redaction_of, subjects_of
from .tokens import equip, no_token, wallet_of

EXIT_CODES: Final[Mapping[Conclusion, ExitCode]] = {
    Conclusion.CONFORMS: ExitCode.OK,
    Conclusion.DOES_NOT_CONFORM: ExitCode.DOES_NOT_CONFORM,
    Conclusion.INCOMPLETE: ExitCode.INCOMPLETE,
    Conclusion.INTERRUPTED: ExitCode.INTERRUPTED,
}

LISTING: Final = {Role.SERVER: "assay list --suite {}", Role.CLIENT: "assay list --client"}


async def judge_server(options: argparse.Namespace) -> int:
    render = renderer(wanted_format(options.format))
    order = order_of(options)
    golden = golden_of(options)
    order = order if golden is None else steady(order)
    subjects = subjects_of(options)
    entries = baseline_of(options, order.selection)
    archive = archive_at(options)
    stop_on_request()
    if not options.command:  # what has to be started first may be asked for its scopes later
        await equip(order.conditions.wallet)
    try:
        with progress(sys.stderr) as watch:
            run = await Runner(order, subjects, watch, archive.keep).run()
        run, place = kept(run, order, entries, archive)
    except SubjectDown as down:
        raise not_there(down, options) from down
    except CannotKeep as error:
        raise not_kept(error) from error
    deliver(render(for_eyes(run, place, options.format)), options.format, beside=place.parent)
    print(f"stored: {place}", file=sys.stderr)
    code = EXIT_CODES[conclude(run)]
    return code if golden is None else golden.finish(run, place, code)


def kept(run: Run, order: Order, entries: list[Entry], archive: Archive) -> tuple[Run, Path]:
    """The run without credentials, beside its baseline; and where it is stored."""
    run = with_baseline(redacted(run, order.conditions.redaction), entries)
    return run, archive.finish(run)


def not_kept(error: CannotKeep) -> CommandFailed:
    return CommandFailed(ExitCode.INCOMPLETE, str(error), "name another directory with --output")


def for_eyes(run: Run, place: Path, form: str) -> Run:
    """What people read names traces as they are found from here; files stay as they are stored."""
    return located(run, place.parent) if form in ("text", "html") else run


def stop_on_request() -> None:
    """SIGTERM ends the run as Ctrl-C does: with what is known, and without leaving the server behind."""
    task = asyncio.current_task()
    assert task is not None
    with contextlib.suppress(NotImplementedError, RuntimeError):  # not on Windows, not beside the main thread
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)


def archive_at(options: argparse.Namespace, role: Role = Role.SERVER) -> Archive:
    try:
        options.output.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        problem = f"cannot keep results in {options.output}: {error.strerror}"
        raise CommandFailed(ExitCode.USAGE, problem, "name another directory with --output") from error
    return Archive(options.output, role)


def not_there(down: SubjectDown, options: argparse.Namespace) -> CommandFailed:
    """A server that is not there, or hangs up at once, did not start; one that is silent proved nothing."""
    if isinstance(down.reason, NoToken):
        return no_token(down.reason)
    if not isinstance(down.reason, Gone):
        hint = "does it speak MCP there? a slow server gets more time with --timeout"
        return CommandFailed(ExitCode.INCOMPLETE, str(down), hint)
    started = options.target or options.command
    hint = "run it by hand to see what it says" if started else "is it running? is the URL right?"
    return CommandFailed(ExitCode.NOT_STARTED, str(down), hint)


def with_baseline(run: Run, entries: list[Entry]) -> Run:
    compared = compare(run, entries)
    return msgspec.structs.replace(run, expected=compared.expected, stale=compared.stale)


def baseline_of(options: argparse.Namespace, selection: Selection) -> list[Entry]:
    return [] if options.baseline is None else entries_of(options.baseline, selection, suite_of(options))


def entries_of(path: Path, selection: Selection, suite: Suite) -> list[Entry]:
    """What the file expects of the scenarios that are played."""
    try:
        entries = read_baseline(path, suite.role.value)
    except BadBaseline as error:
        hint = f"see `assay {suite.role.value} --help`"
        raise CommandFailed(ExitCode.USAGE, str(error), hint) from error
    every = suite.scenarios.values()
    return concerning(entries, chosen(every, selection), every)


def wanted_format(name: str) -> str:
    if name not in formats():
        raise CommandFailed(ExitCode.USAGE, f"unknown format: {name}", f"one of {', '.join(formats())}")
    return name


def order_of(options: argparse.Namespace) -> Order:
    if options.all and options.scenario:
        raise CommandFailed(ExitCode.USAGE, "give --all or --scenario, not both")
    selection = Selection(
        scenarios=tuple(options.scenario),
        revisions=tuple(revision_of(date) for date in dict.fromkeys(options.spec_version)),
        effects=options.allow_effects,
    )
    suite = suite_of(options, FUZZ)
    check_named(options.scenario, suite)
    redaction = redaction_of(options)
    conditions = Conditions(
        patience=options.timeout,
        limit=max(60.0, 3 * options.timeout),
        redaction=redaction,
        wallet=wallet_of(options, redaction),
    )
    return Order(
        suite,
        selection,
        conditions,
        options.jobs or os.cpu_count() or 1,
        options.repeat or 1,
        strict=options.strict,
        shared=not options.isolate,
    )


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
