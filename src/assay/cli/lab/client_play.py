"""How `assay client` turns its options into a run."""

from __future__ import annotations

import argparse
import os
from typing import Final

import msgspec

from assay.cli.exit_code import CommandFailed, ExitCode
from assay.lab.client.groups import groups, narrowed
from assay.lab.harness.catalogue import Suite
from assay.lab.harness.run.archive import Archive, Output
from assay.lab.harness.run.event import Watch
from assay.lab.harness.run.plan import Cell, Selection
from assay.lab.harness.run.run import CellResult, Place, Run
from assay.lab.harness.run.runner import SubjectDown
from assay.lab.harness.scripted_server.client import SERVER, URL, Client, CommandClient
from assay.lab.harness.scripted_server.client_run import ClientRun
from assay.lab.harness.scripted_server.runner import ClientOrder, ClientRunner, Keep, planned
from assay.lab.harness.transport import Transport
from assay.lab.suites import suite_named

from .attached import AttachedClient
from .judging import check_named, revision_of
from .subjects import argv

OPEN_HOUSE: Final = "core.open-house"
"""What an attached client meets unless its user wants something else."""
TIMEOUT: Final = 30.0
ATTACHED: Final = 600.0
"""Seconds for one scenario: of a program, and of somebody who clicks."""


class ClientPlay:
    restarts = True

    def __init__(self, options: argparse.Namespace) -> None:
        """
        Raises:
            CommandFailed: the options make no sense, or choose nothing.
        """
        self._client = client_of(options)
        self._order = order_of(options)
        cells = planned(self._order, [self._client.transport])
        if options.attach:
            self._order, cells = only_one(self._order, cells)
        self.suite = self._order.suite
        self.selection = self._order.selection
        if not cells:
            raise nothing_played(self._client.transport, self._order.selection)

    def steady(self) -> None:
        """Nothing is shared by two scenarios, and order is kept by the plan."""

    async def prepare(self) -> None: ...

    async def run(self, watch: Watch, archive: Archive, first: frozenset[Place] = frozenset()) -> Run:
        selection = msgspec.structs.replace(self.selection, first=first)
        order = msgspec.structs.replace(self._order, selection=selection)
        return await ClientRunner(order, [self._client], watch, keeping(archive)).run()

    def refusal(self, down: SubjectDown) -> CommandFailed:
        return CommandFailed(ExitCode.NOT_STARTED, str(down), "is the command right? try it by hand")


def nothing_played(transport: Transport, selection: Selection) -> CommandFailed:
    dates = ", ".join(one.date for one in selection.revisions)
    problem = f"nothing of that is played on {transport}" + (f" at {dates}" if dates else "")
    return CommandFailed(ExitCode.USAGE, problem, "`assay list --client` shows where each scenario runs")


def keeping(archive: Archive) -> Keep:
    """Store what is left of a visit: its trace, and what the client wrote."""

    def keep(visited: ClientRun) -> CellResult:
        archive.keep_output(visited.result, Output(visited.ended.stdout, visited.ended.stderr))
        return archive.keep(visited.result, visited.trace)

    return keep


def client_of(options: argparse.Namespace) -> Client:
    if options.attach and options.watch:
        problem = "--watch starts the client anew, and --attach starts nothing"
        raise CommandFailed(ExitCode.USAGE, problem, "leave one of them out")
    if bool(options.command) is options.attach:
        problem = "--attach starts nothing" if options.attach else "no client to judge"
        hint = "leave --command out" if options.attach else "give --command, or --attach"
        raise CommandFailed(ExitCode.USAGE, problem, hint)
    if options.attach:
        return AttachedClient(Transport(options.transport or Transport.HTTP))
    words = argv(options.command)
    starts = any(SERVER in word for word in words)
    if starts and any(URL in word for word in words):
        problem = f"the command has both {URL} and {SERVER}"
        raise CommandFailed(ExitCode.USAGE, problem, "a client is judged on one transport at a time")
    wanted = Transport(options.transport or (Transport.STDIO if starts else Transport.HTTP))
    if starts is not (wanted is Transport.STDIO):
        problem = f"on {wanted} the command {'has no place for' if starts else 'needs'} {SERVER}"
        hint = f"{SERVER} becomes the command of a stdio server; a URL goes to {{url}}, or to the end"
        raise CommandFailed(ExitCode.USAGE, problem, hint)
    return CommandClient(words, wanted)


def only_one(order: ClientOrder, cells: list[Cell]) -> tuple[ClientOrder, list[Cell]]:
    """Somebody has to act for each cell of an attached client: it gets one revision, unless wanted more."""
    if not order.selection.revisions and cells:
        revision = cells[0].revision
        cells = [cell for cell in cells if cell.revision is revision]
        selection = msgspec.structs.replace(order.selection, revisions=(revision,))
        order = msgspec.structs.replace(order, selection=selection)
    if len(cells) > 1:
        places = ", ".join(f"{cell.scenario.id} at {cell.revision}" for cell in cells[:3])
        problem = f"--attach is for one scenario at one revision, and this is {len(cells)}: {places} …"
        raise CommandFailed(ExitCode.USAGE, problem, "choose with --scenario and --spec-version")
    return order, cells


def order_of(options: argparse.Namespace) -> ClientOrder:
    suite = group_of(options.suite)
    check_named(options.scenario, suite)
    revisions = tuple(revision_of(date) for date in dict.fromkeys(options.spec_version))
    usual = (OPEN_HOUSE,) if options.attach else ()
    return ClientOrder(
        suite,
        Selection(scenarios=tuple(options.scenario) or usual, revisions=revisions),
        limit=options.timeout or (ATTACHED if options.attach else TIMEOUT),
        jobs=options.jobs or os.cpu_count() or 1,
        repeat=options.repeat or 1,
        strict=options.strict,
        once=options.once,
    )


def group_of(name: str) -> Suite:
    """The scenarios of a group.

    Raises:
        CommandFailed: there is no such group.
    """
    suite = suite_named("client")
    try:
        return narrowed(suite, name)
    except KeyError:
        hint = f"one of {', '.join(groups(suite))}"
        raise CommandFailed(ExitCode.USAGE, f"no such suite: {name}", hint) from None
