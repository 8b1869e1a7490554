"""Run the lab on a public server or client."""

import asyncio
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from assay.lab.harness.run.archive import Archive, StorageError
from assay.lab.harness.run.difference import CellChange, difference
from assay.lab.harness.run.plan import Selection
from assay.lab.harness.run.recording import Conditions
from assay.lab.harness.run.run import Run
from assay.lab.harness.run.runner import Runner, RunSettings, SubjectDown
from assay.lab.harness.scripted_server.runner import ClientOrder, ClientRunner
from assay.lab.harness.trace.recorder import Redaction
from assay.lab.suites import protocol_suite, suite_named
from interop.official import Aborted, Exit
from interop.public.table import ROOT, PublicClient, PublicPackage, PublicServer

# Paths of this machine are redacted too. With the slash, because `/root` occurs in other words.
PRIVATE = Redaction([str(ROOT), f"{Path.home()}/", sys.base_prefix])
CLIENT_TIMEOUT = 30.0


class RunOptions(Struct, frozen=True):
    node: str
    results: Path
    jobs: int
    timeout: float


async def judged(package: PublicPackage, options: RunOptions) -> tuple[Run, Path]:
    """The run, and where its traces are.

    Raises:
        Aborted: the subject did not start, or the results could not be stored.
    """
    results = options.results / package.name
    shutil.rmtree(results, ignore_errors=True)
    archive = Archive(results)
    try:
        run = await _runner(package, options, archive).run()
        home = archive.finish(run).parent
    except SubjectDown as down:
        raise Aborted(Exit.SERVER_DID_NOT_START, str(down)) from down
    except StorageError as error:
        raise Aborted(Exit.COULD_NOT_RUN, str(error)) from error
    if run.interrupted:
        raise asyncio.CancelledError
    return run, home


def _runner(package: PublicPackage, options: RunOptions, archive: Archive) -> Runner | ClientRunner:
    if isinstance(package, PublicClient):
        order = ClientOrder(suite_named("client"), limit=CLIENT_TIMEOUT, jobs=options.jobs, probes=True)
        client = package.client(options.node)
        return ClientRunner(
            order, [client], lambda event: None, lambda done: archive.store(done.result, done.trace)
        )
    assert isinstance(package, PublicServer)
    conditions = Conditions(redaction=PRIVATE, patience=options.timeout)
    settings = RunSettings(
        protocol_suite(), Selection(effects=package.effects), conditions, jobs=options.jobs
    )
    return Runner(settings, [package.subject(options.node)], lambda event: None, archive.store)


def changes(runs: Sequence[Run]) -> list[CellChange]:
    """What differs between the first run and each of the others."""
    return [change for run in runs[1:] for change in difference(runs[0], run).cells]
