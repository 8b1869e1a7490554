"""How `assay client` turns its options into a run, and a run into output and an exit code."""

from __future__ import annotations

import argparse
import os
import sys

from assay.cli.delivery import deliver
from assay.cli.exit_code import CommandFailed, ExitCode
from assay.lab.client.groups import groups, narrowed
from assay.lab.harness.archive import Archive, CannotKeep, Output
from assay.lab.harness.baseline import Entry
from assay.lab.harness.catalogue import Suite
from assay.lab.harness.conclusion import conclude
from assay.lab.harness.hosting.client import SERVER, CommandClient
from assay.lab.harness.hosting.runner import ClientOrder, ClientRunner, Keep, planned
from assay.lab.harness.hosting.visit import Visit
from assay.lab.harness.plan import Selection
from assay.lab.harness.run import CellResult
from assay.lab.harness.runner import SubjectDown
from assay.lab.harness.scenario import Role
from assay.lab.harness.transport import Transport
from assay.lab.report.registry import renderer
from assay.lab.suites import suite_named

from .judging import (
    EXIT_CODES,
    archive_at,
    check_named,
    entries_of,
    for_eyes,
    not_kept,
    revision_of,
    stop_on_request,
    wanted_format,
    with_baseline,
)
from .progress import progress
from .subjects import argv


async def judge_client(options: argparse.Namespace) -> int:
    render = renderer(wanted_format(options.format))
    client = client_of(options)
    order = order_of(options)
    if not planned(order, [client.transport]):
        hint = "`assay list --client` shows where each scenario runs"
        raise CommandFailed(ExitCode.USAGE, f"nothing of that is played on {client.transport}", hint)
    entries = baseline_of(options, order)
    archive = archive_at(options, Role.CLIENT)
    stop_on_request()
    try:
        with progress(sys.stderr) as watch:
            run = await ClientRunner(order, [client], watch, keeping(archive)).run()
        run = with_baseline(run, entries)
        place = archive.finish(run)
    except SubjectDown as down:
        raise CommandFailed(ExitCode.NOT_STARTED, str(down), "is the command right? try it by hand") from down
    except CannotKeep as error:
        raise not_kept(error) from error
    deliver(render(for_eyes(run, place, options.format)), options.format, beside=place.parent)
    print(f"stored: {place}", file=sys.stderr)
    return EXIT_CODES[conclude(run)]


def keeping(archive: Archive) -> Keep:
    """Store what is left of a visit: its trace, and what the client wrote."""

    def keep(visited: Visit) -> CellResult:
        archive.keep_output(visited.result, Output(visited.ended.stdout, visited.ended.stderr))
        return archive.keep(visited.result, visited.trace)

    return keep


def client_of(options: argparse.Namespace) -> CommandClient:
    if not options.command:
        raise CommandFailed(ExitCode.USAGE, "no client to judge", "give --command")
    words = argv(options.command)
    starts = any(SERVER in word for word in words)
    wanted = Transport(options.transport or (Transport.STDIO if starts else Transport.HTTP))
    if starts is not (wanted is Transport.STDIO):
        problem = f"on {wanted} the command {'has no place for' if starts else 'needs'} {SERVER}"
        hint = (
            f"{SERVER} becomes the command of a stdio server; a URL goes in place of {{url}}, or at the end"
        )
        raise CommandFailed(ExitCode.USAGE, problem, hint)
    return CommandClient(words, wanted)


def order_of(options: argparse.Namespace) -> ClientOrder:
    suite = suite_of(options)
    check_named(options.scenario, suite)
    revisions = tuple(revision_of(date) for date in dict.fromkeys(options.spec_version))
    return ClientOrder(
        suite,
        Selection(scenarios=tuple(options.scenario), revisions=revisions),
        limit=options.timeout,
        jobs=options.jobs or os.cpu_count() or 1,
        repeat=options.repeat or 1,
        strict=options.strict,
    )


def suite_of(options: argparse.Namespace) -> Suite:
    suite = suite_named("client")
    try:
        return narrowed(suite, options.suite)
    except KeyError:
        hint = f"one of {', '.join(groups(suite))}"
        raise CommandFailed(ExitCode.USAGE, f"no such suite: {options.suite}", hint) from None


def baseline_of(options: argparse.Namespace, order: ClientOrder) -> list[Entry]:
    return [] if options.baseline is None else entries_of(options.baseline, order.selection, order.suite)
