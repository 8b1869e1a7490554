"""The reference server behind a lock, judged by what is about locks."""

from __future__ import annotations

from pathlib import Path

from assay.lab.harness.run.archive import Archive
from assay.lab.harness.run.plan import Selection
from assay.lab.harness.run.run import Run, redacted
from assay.lab.harness.run.runner import Runner, RunSettings
from assay.lab.harness.sabotage.protected_server import ProtectedServer
from assay.lab.harness.transport import Transport
from assay.lab.suites import protocol_suite

AREAS = ("authorization.*", "security.*")


async def judge_protected(transport: Transport, results: Path) -> tuple[Run, list[str]]:
    """The run, stored below `results`, and every token that there was."""
    lock = ProtectedServer()
    try:
        order = RunSettings(protocol_suite(), Selection(scenarios=AREAS), lock.conditions, jobs=4)
        archive = Archive(results)
        run = await Runner(order, [lock.served(transport)], lambda event: None, archive.store).run()
        archive.finish(redacted(run, lock.conditions.redaction))
        return run, [token for kind in lock.tokens.kinds if (token := lock.tokens.get(kind)) is not None]
    finally:
        lock.close()
