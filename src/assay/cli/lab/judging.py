"""How `assay server` turns its options into a run, and a run into output and an exit code."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Mapping
from typing import Final

import msgspec

from assay.cli.exit_code import CommandFailed, ExitCode
from assay.lab.harness.archive import Archive
from assay.lab.harness.baseline import BadBaseline, Entry, compare, read_baseline
from assay.lab.harness.broken_off import Gone
from assay.lab.harness.conclusion import Conclusion, conclude
from assay.lab.harness.http_call import Address
from assay.lab.harness.plan import Selection, chosen
from assay.lab.harness.playing import Conditions
from assay.lab.harness.redaction import Redaction
from assay.lab.harness.run import Run
from assay.lab.harness.runner import Order, Runner, SubjectDown
from assay.lab.harness.subject import CommandSubject, Subject, UrlSubject, served
from assay.lab.harness.transport import Transport
from assay.lab.report.registry import formats, renderer
from assay.lab.suite.catalogue import shipped
from assay.revisions.registry import BY_DATE
from assay.revisions.revision import Revision

from .progress import progress

EXIT_CODES: Final[Mapping[Conclusion, ExitCode]] = {
    Conclusion.CONFORMS: ExitCode.OK,
    Conclusion.DOES_NOT_CONFORM: ExitCode.DOES_NOT_CONFORM,
    Conclusion.INCOMPLETE: ExitCode.INCOMPLETE,
    Conclusion.INTERRUPTED: ExitCode.INTERRUPTED,
}


async def judge_server(options: argparse.Namespace) -> int:
    render = renderer(wanted_format(options.format))
    order = order_of(options)
    entries = baseline_of(options)
    archive = Archive(options.output)
    subjects = subjects_of(options)
    with progress(sys.stderr) as watch:
        try:
            run = await Runner(order, subjects, watch, archive.keep).run()
        except SubjectDown as down:
            raise not_there(down) from down
    run = with_baseline(run, entries)
    place = archive.finish(run)
    sys.stdout.write(render(run))
    print(f"stored: {place}", file=sys.stderr)
    return EXIT_CODES[conclude(run)]


def not_there(down: SubjectDown) -> CommandFailed:
    """A server that is not there, or hangs up at once, did not start; one that is silent proved nothing."""
    gone = isinstance(down.reason, Gone)
    return CommandFailed(ExitCode.NOT_STARTED if gone else ExitCode.INCOMPLETE, str(down))


def with_baseline(run: Run, entries: list[Entry]) -> Run:
    compared = compare(run, entries)
    return msgspec.structs.replace(run, expected=compared.expected, stale=compared.stale)


def baseline_of(options: argparse.Namespace) -> list[Entry]:
    if options.baseline is None:
        return []
    try:
        return read_baseline(options.baseline)
    except BadBaseline as error:
        raise CommandFailed(ExitCode.USAGE, str(error)) from error


def wanted_format(name: str) -> str:
    if name not in formats():
        raise CommandFailed(ExitCode.USAGE, f"unknown format: {name}", f"one of {', '.join(formats())}")
    return name


def order_of(options: argparse.Namespace) -> Order:
    selection = Selection(
        scenarios=tuple(options.scenario),
        revisions=tuple(revision_of(date) for date in options.spec_version),
        suite=options.suite,
        effects=options.allow_effects,
    )
    if not chosen(shipped().scenarios.values(), selection):
        what = ", ".join(options.scenario) or f"suite {options.suite}"
        raise CommandFailed(ExitCode.USAGE, f"no such scenario: {what}", "`assay list` shows all")
    secrets = [options.bearer] if options.bearer else []
    secrets += [value.strip() for _, value in headers_of(options).items()]
    conditions = Conditions(
        patience=options.timeout, limit=max(60.0, 3 * options.timeout), redaction=Redaction(secrets)
    )
    return Order(shipped(), selection, conditions, options.jobs, options.repeat, options.strict)


def revision_of(date: str) -> Revision:
    if date not in BY_DATE:
        raise CommandFailed(ExitCode.USAGE, f"unknown revision: {date}", f"one of {', '.join(BY_DATE)}")
    return BY_DATE[date]


def headers_of(options: argparse.Namespace) -> dict[str, str]:
    headers = {}
    for text in options.header:
        name, colon, value = text.partition(":")
        if not colon or not name.strip() or "\n" in text or "\r" in text:
            raise CommandFailed(ExitCode.USAGE, f"not a header: {text}", "write it as 'Name: value'")
        headers[name.strip()] = value.strip()
    if options.bearer:
        headers["Authorization"] = f"Bearer {options.bearer}"
    return headers


def subjects_of(options: argparse.Namespace) -> list[Subject]:
    if options.target and (options.url or options.command):
        raise CommandFailed(ExitCode.USAGE, "give TARGET, or --url and --command, not both")
    if options.target:
        transports = options.transport or ["stdio"]
        return [served(options.target, Transport(name)) for name in transports]
    if options.url:
        return [url_subject(options)]
    if options.command:
        return [CommandSubject(argv(options.command))]
    raise CommandFailed(ExitCode.USAGE, "no server to judge", "give TARGET, --url or --command")


def url_subject(options: argparse.Namespace) -> Subject:
    try:
        Address.of(options.url)
    except ValueError as error:
        raise CommandFailed(ExitCode.USAGE, str(error)) from error
    usual = "ws" if options.url.startswith("ws") else "http"
    transport = Transport((options.transport or [usual])[0])
    if transport is Transport.STDIO:
        raise CommandFailed(ExitCode.USAGE, "stdio has no URL", "give --command")
    command = argv(options.command) if options.command else None
    return UrlSubject(options.url, transport=transport, headers=headers_of(options), command=command)


def argv(line: str) -> list[str]:
    try:
        words = shlex.split(line)
    except ValueError as error:
        raise CommandFailed(ExitCode.USAGE, f"cannot read the command: {error}") from error
    if not words:
        raise CommandFailed(ExitCode.USAGE, "the command is empty")
    return words
