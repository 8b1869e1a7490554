"""`assay certify`: judge, put the evidence together, sign it, tell it."""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from assay.certify.bundle import directory as bundle
from assay.certify.bundle import layout
from assay.certify.bundle.contents import BundleContents, Inputs, compose
from assay.certify.bundle.directory import CannotWrite, Contents
from assay.certify.bundle.environment import BadEnvironment
from assay.certify.bundle.run_collector import RunCollector
from assay.certify.bundle.sbom import BadSbom
from assay.certify.scoring import Conclusion
from assay.certify.vulnerabilities.osv_export import BadExport
from assay.cli.exit_code import CommandFailed, ExitCode
from assay.cli.output import emit
from assay.lab.harness.catalogue import Suite
from assay.lab.harness.run.event import RunEvent, Watch
from assay.lab.harness.run.plan import Selection
from assay.lab.harness.run.recording import Conditions
from assay.lab.harness.run.run import SubjectRecord
from assay.lab.harness.run.runner import Runner, RunOrder, SubjectDown
from assay.lab.harness.transport import Transport
from assay.lab.suites import suite_named

from .certify_inputs import entry_of, inputs_of, named_by_itself, this_moment
from .certify_subjects import Judged, all_judged, check_subject
from .certify_text import told, useless
from .judging import check_named, revision_of, stop_on_request
from .progress import progress
from .server_play import not_there
from .subjects import redaction_of
from .tokens import equip, wallet_of

SUITE: Final = "marketplace"
EXIT_CODES: Final = {
    Conclusion.MET: ExitCode.OK,
    Conclusion.NOT_MET: ExitCode.DOES_NOT_CONFORM,
    Conclusion.TOO_LITTLE: ExitCode.INCOMPLETE,
}


async def certify(options: argparse.Namespace) -> int:
    """
    Raises:
        CommandFailed: something is wrong with the options, or the server is not there.
    """
    check_subject(options)
    inputs = inputs_of(options)
    suite = suite_named(SUITE)
    order = order_of(options, suite)
    stop_on_request()
    await equip(order.conditions.wallet)
    harvest = RunCollector()
    async with all_judged(options, entry_of(inputs)) as judged:
        for one in judged:
            await _play(one, order, harvest, options)
            if harvest.run.interrupted:
                break  # who has had enough of one server does not wait for the next
    if harvest.run.interrupted:
        print("interrupted: nothing was written", file=sys.stderr)
        return ExitCode.INTERRUPTED
    inputs = named_by_itself(inputs, harvest.run)
    inputs = replace(inputs, created=this_moment())  # evidence is not older than what it shows
    made = await asyncio.to_thread(_composed, harvest, inputs, suite)
    _write(made, inputs, options)
    if not options.quiet:
        print(told(made.summary, options.out), *useless(made.files), sep="\n", file=sys.stderr)
    emit(made.files[layout.SUMMARY].decode())
    return EXIT_CODES[made.summary.conclusion]


def order_of(options: argparse.Namespace, suite: Suite) -> RunOrder:
    redaction = redaction_of(options)
    conditions = Conditions(
        patience=options.timeout,
        limit=max(60.0, 3 * options.timeout),
        redaction=redaction,
        wallet=wallet_of(options, redaction),
    )
    check_named(options.scenario, suite)
    selection = Selection(
        scenarios=tuple(options.scenario),
        revisions=tuple(revision_of(date) for date in dict.fromkeys(options.spec_version)),
        effects=options.allow_effects,
    )
    return RunOrder(suite, selection, conditions, options.jobs or os.cpu_count() or 1)


async def _play(one: Judged, order: RunOrder, harvest: RunCollector, options: argparse.Namespace) -> None:
    conditions = replace(order.conditions, surroundings=one.surroundings)
    try:
        with _watching(options) as watch:
            runner = Runner(replace(order, conditions=conditions), [one.subject], watch, harvest.keep)
            harvest.add(await runner.run(), conditions.redaction)
    except SubjectDown as down:
        raise not_there(down, options) from down
    silent = [record for record in harvest.run.subjects if not record.facts]
    if silent and not harvest.run.interrupted:
        raise _strange(silent[0])


def _strange(record: SubjectRecord) -> CommandFailed:
    """Nothing can be said of a server that shakes no hands."""
    reasons = "; ".join(dict.fromkeys(one.reason for one in record.refused))
    at_url = "is that its endpoint, which often ends in /mcp? a protected server wants a token: -t TOKEN"
    hint = "run it by hand to see what it says" if record.transport == Transport.STDIO else at_url
    problem = f"{record.name} speaks no revision of MCP that was asked for: {reasons}"
    return CommandFailed(ExitCode.INCOMPLETE, problem, hint)


@contextmanager
def _watching(options: argparse.Namespace) -> Iterator[Watch]:
    if options.quiet:
        yield _unheard
    else:
        with progress(sys.stderr) as watch:
            yield watch


def _unheard(event: RunEvent) -> None: ...


def _composed(harvest: RunCollector, inputs: Inputs, suite: Suite) -> BundleContents:
    try:
        return compose(harvest.run, harvest.files, inputs, suite)
    except (BadEnvironment, BadSbom) as error:
        hint = "name the server's interpreter with --python EXE"
        raise CommandFailed(ExitCode.INCOMPLETE, str(error), hint) from error
    except BadExport as error:
        raise CommandFailed(ExitCode.USAGE, str(error), "give another export with --osv") from error


def _write(made: BundleContents, inputs: Inputs, options: argparse.Namespace) -> None:
    try:
        if options.out is not None:
            bundle.write(
                options.out, _contents(made, inputs), inputs.key, harness=inputs.harness, force=options.force
            )
        if options.badge_out is not None:
            Path(options.badge_out).write_bytes(made.files[layout.BADGE])
    except CannotWrite as error:
        raise CommandFailed(ExitCode.INCOMPLETE, str(error)) from error
    except OSError as error:
        problem = f"cannot write {options.badge_out}: {error.strerror}"
        raise CommandFailed(ExitCode.INCOMPLETE, problem) from error


def _contents(made: BundleContents, inputs: Inputs) -> Contents:
    return Contents(
        inputs.server,
        inputs.version,
        inputs.artifact,
        inputs.profile.id,
        inputs.profile.data,
        made.files,
        inputs.created,
        inputs.lifetime,
    )
