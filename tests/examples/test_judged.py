"""The lab has no finding about the example servers.

Each is judged on one transport, at the newest revision of each kind. `make judged` judges them, and the
strict reference server, on every transport and revision.
"""

import os
from pathlib import Path

import pytest

from assay.lab.harness.run.plan import Selection
from assay.lab.harness.run.run import CellResult
from assay.lab.harness.run.runner import Runner, RunSettings
from assay.lab.harness.subject.subject import Subject, served
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.transport import Transport
from assay.lab.suites import protocol_suite
from assay.revisions.registry import HANDSHAKE, PER_REQUEST
from tests.meta.tree import ROOT, expect_none

pytestmark = pytest.mark.long
SELECTION = Selection(effects=True, revisions=(HANDSHAKE[-1], PER_REQUEST[-1]))
EXAMPLES = ROOT / "examples"


def subject(target: str, transport: Transport, data: Path) -> Subject:
    environment = {**os.environ, "DATABASE": str(data / "example.db")}
    return served(target, transport, environment=environment)


def unchanged(result: CellResult, trace: Trace) -> CellResult:
    return result


@pytest.mark.timeout(120)
@pytest.mark.parametrize(
    ("target", "transport"),
    [
        (f"{EXAMPLES / 'time_server.py'}", Transport.HTTP),
        (f"{EXAMPLES / 'sqlite_server.py'}", Transport.HTTP),
        (f"{EXAMPLES / 'fetch_server.py'}", Transport.WEBSOCKET),
    ],
    ids=["time", "sqlite", "fetch"],
)
async def test_server_has_no_finding(target: str, transport: Transport, tmp_path: Path) -> None:
    settings = RunSettings(protocol_suite(), SELECTION, jobs=10)
    subjects = [subject(target, transport, tmp_path)]
    run = await Runner(settings, subjects, lambda event: None, unchanged).run()
    assert not run.subjects[0].refused
    expect_none(
        f"{cell.scenario} at {cell.revision}: {finding.requirement}: {finding.observed}"
        for cell in run.cells
        for check in cell.checks
        for finding in check.findings
    )
    expect_none(f"{cell.scenario} at {cell.revision}: {cell.reason}" for cell in run.cells if cell.broke_off)
