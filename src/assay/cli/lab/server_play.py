"""How `assay server` turns its options into a run."""

from __future__ import annotations

import argparse
import os

import msgspec

from assay.cli.exit_code import CommandFailed, ExitCode
from assay.cli.suite import FUZZ, suite_of
from assay.lab.harness.links.broken_off import Gone, NoToken
from assay.lab.harness.run.archive import Archive
from assay.lab.harness.run.event import Watch
from assay.lab.harness.run.plan import Selection
from assay.lab.harness.run.recording import Conditions
from assay.lab.harness.run.run import Place, Run, redacted
from assay.lab.harness.run.runner import Runner, RunOrder, SubjectDown
from assay.lab.harness.scenario import Role

from .beside import check_beside, surroundings_of
from .judging import check_named, revision_of
from .subjects import redaction_of, subjects_of
from .tokens import equip, no_token, wallet_of


class ServerPlay:
    def __init__(self, options: argparse.Namespace) -> None:
        """
        Raises:
            CommandFailed: the options make no sense.
        """
        self._options = options
        self._order = order_of(options)
        check_beside(options)
        subjects_of(options)  # made anew for every run: here only to hear of mistakes before anything else
        self.suite = self._order.suite
        self.selection = self._order.selection
        self.restarts = bool(options.target or options.command)

    def steady(self) -> None:
        """One scenario after another, each with a process of its own on stdio: at once, they would leave
        their marks in each other's traces."""
        self._order = msgspec.structs.replace(self._order, jobs=1, shared=False)

    async def prepare(self) -> None:
        if not self._options.command:  # what has to be started first may be asked for its scopes later
            await equip(self._order.conditions.wallet)

    async def run(self, watch: Watch, archive: Archive, first: frozenset[Place] = frozenset()) -> Run:
        """The run without credentials."""
        selection = msgspec.structs.replace(self.selection, first=first)
        async with surroundings_of(self._options) as seen:
            conditions = msgspec.structs.replace(self._order.conditions, surroundings=seen)
            order = msgspec.structs.replace(self._order, selection=selection, conditions=conditions)
            run = await Runner(order, subjects_of(self._options), watch, archive.keep).run()
        return redacted(run, conditions.redaction)

    def refusal(self, down: SubjectDown) -> CommandFailed:
        return not_there(down, self._options)


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


def order_of(options: argparse.Namespace) -> RunOrder:
    if options.all and options.scenario:
        raise CommandFailed(ExitCode.USAGE, "give --all or --scenario, not both")
    selection = Selection(
        scenarios=tuple(options.scenario),
        revisions=tuple(revision_of(date) for date in dict.fromkeys(options.spec_version)),
        effects=options.allow_effects,
    )
    suite = suite_of(options, FUZZ)
    if suite.role is not Role.SERVER:
        problem = f"the suite {suite.name} judges no server"
        raise CommandFailed(ExitCode.USAGE, problem, "`assay client` plays it")
    check_named(options.scenario, suite)
    redaction = redaction_of(options)
    conditions = Conditions(
        patience=options.timeout,
        limit=max(60.0, 3 * options.timeout),
        redaction=redaction,
        wallet=wallet_of(options, redaction),
    )
    return RunOrder(
        suite,
        selection,
        conditions,
        options.jobs or os.cpu_count() or 1,
        options.repeat or 1,
        strict=options.strict,
        shared=not options.isolate,
    )
